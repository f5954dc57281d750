"""The table of contents of a saved audit, and what must be in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from falcon_discover.data.labels import MAX_CLASSES
from falcon_discover.data.table import Kind
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.settings import PAPER
from falcon_discover.storage.frames import Layout

FORMAT = "falcon-discover audit"
# Raise SCHEMA with every change of what the parts hold, and OLDEST when one is no longer read.
# Schema 2 gave the manifest a checksum of its own; schema 3 a decision threshold, and room for more
# than two classes, for audits without a model and for reviewed rows.
SCHEMA = 3
OLDEST = 1
MANIFEST = "manifest.json"
OBJECTS, REFERENCE, ENCODED = "objects.skops", "reference.npz", "encoded"
FIT_ROWS, FIT_TABLE = "fit_rows.parquet", "fit_table.parquet"
REGIONS = "regions.parquet"
VALIDATION_ROWS, VALIDATION_FEATURES = "validation_rows.parquet", "validation_features.npz"
REVIEWED_ROWS, REVIEWED_FEATURES = "reviewed_rows.parquet", "reviewed_features.npz"
MOST = 2**31

Test = Callable[[Any], bool]


def read(text: bytes, name: str) -> dict[str, Any]:
    """Return a manifest in which every field is there and has a value that it may have."""
    try:
        manifest = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is damaged: its part {MANIFEST} is not JSON.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(
            f"{name} is not a saved audit: its {MANIFEST} lacks the expected format field."
        )
    _check_schema(name, manifest)
    _check(manifest, FIELDS, "", name)
    _check_decision(manifest, name)
    about = manifest["reference"]
    _check(about, REFERENCE_FIELDS, "reference.", name)
    _check(manifest["model"], MODEL_FIELDS, "model.", name)
    if manifest["schema"] > 1:
        _check(manifest["model"], {"name": _is_text}, "model.", name)
    _check_each(manifest["columns"], _is_one_of(*get_args(Kind)), "columns.", name)
    _check_each(manifest["versions"], _is_text, "versions.", name)
    _check_each(manifest["model"]["candidates"], _is_number(0, 1), "model.candidates.", name)
    _check_each(manifest["parts"], _is_map, "parts.", name)
    for part, listed in manifest["parts"].items():
        _check(listed, PART_FIELDS, f"parts.{part}.", name)
    if "seed" in manifest:
        # Of an audit without rows; those of schema 2 that 0.1.0 saved have none.
        _check(manifest, {"seed": MEASURE_FIELDS["seed"]}, "", name)
    if "scored" in manifest:
        # Files of schema 2 do not say; there it is the last class.
        _check(manifest, {"scored": _is_count(most=1)}, "", name)
    needed = [OBJECTS]
    if about["kept"] != "none":
        _check(about, ROWS_FIELDS, "reference.", name)
        _check(manifest, {"measure": _is_map}, "", name)
        _check(manifest["measure"], MEASURE_FIELDS, "measure.", name)
        needed += [REFERENCE, FIT_ROWS, FIT_TABLE, REGIONS]
        needed += [ENCODED] if about["encoded"] is not None else []
        needed += [VALIDATION_ROWS, VALIDATION_FEATURES] if about["validation_rows"] else []
        if "learned" in manifest:
            _check(manifest, {"learned": _is_map}, "", name)
            _check(manifest["learned"], LEARNED_FIELDS, "learned.", name)
            needed += [REVIEWED_ROWS, REVIEWED_FEATURES]
    for part in needed:
        if part not in manifest["parts"]:
            raise InputError(f"{name} was altered: its {MANIFEST} does not list the part {part}.")
    if len(manifest["columns"]) != manifest["n_features"]:
        raise _wrong(name, "n_features", manifest["n_features"])
    if about["rows"] > about["of"]:
        raise _wrong(name, "reference.rows", about["rows"])
    return manifest


def tau_of(manifest: Mapping[str, Any]) -> Tau:
    """Return the confidence from which a wrong prediction counts, which may differ by class."""
    tau = manifest["tau"]
    return tuple(tau) if isinstance(tau, list) else float(tau)


def threshold_of(manifest: Mapping[str, Any]) -> float:
    """Return from which probability the positive one of two classes is decided."""
    # Files before schema 3 have none: their rows were decided at one half.
    return float(manifest.get("threshold", PAPER.decision_threshold))


def _check_decision(manifest: Mapping[str, Any], name: str) -> None:
    """Check what decides a row: the classes, the threshold, and tau, which may differ by class."""
    n_classes = len(manifest["classes"])
    if not 2 <= n_classes <= MAX_CLASSES or (n_classes > 2 and manifest["schema"] < 3):
        raise _wrong(name, "classes", manifest["classes"])
    if manifest["schema"] < 3:
        _check(manifest, {"tau": LEVEL}, "", name)
        return
    by_class = isinstance(manifest.get("tau"), list)
    _check(manifest, {"tau": _is_list_of(LEVEL, n_classes) if by_class else LEVEL}, "", name)
    _check(manifest, {"threshold": _is_number(0, 1)}, "", name)


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _is_text(value: Any) -> bool:
    # JSON can spell halves of characters, which nothing can print.
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list_of(test: Test, *lengths: int) -> Test:
    def is_list(value: Any) -> bool:
        whole = isinstance(value, list) and (not lengths or len(value) in lengths)
        return whole and all(map(test, value))

    return is_list


def _is_count(least: int = 0, most: int = MOST) -> Test:
    # A bool is an int in Python, and not a number here.
    return lambda value: type(value) is int and least <= value <= most


def _is_number(low: float, high: float) -> Test:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _is_one_of(*values: Any) -> Test:
    return lambda value: (value is None or isinstance(value, str)) and value in values


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


LEVEL = _is_number(0.5, 1)
FIELDS: dict[str, Test] = {
    "parts": _is_map,
    "model": _is_map,
    "reference": _is_map,
    "classes": _is_list_of(_is_text),
    "columns": _is_map,
    "n_features": _is_count(1),
    "category_values": _is_count(),
    "ranker": _is_text,
    "versions": _is_map,
}
MODEL_FIELDS = {"backbone": _is_text, "candidates": _is_map}
PART_FIELDS = {"bytes": _is_count(most=2**53), "sha256": _is_hash}
REFERENCE_FIELDS = {
    "kept": _is_one_of("full", "sample", "none"),
    "rows": _is_count(),
    "validation_rows": _is_count(),
    "of": _is_count(),
}
ROWS_FIELDS = {
    "rows": _is_count(1),
    "encoded": _is_one_of(None, *get_args(Layout)),
    "recall": _is_number(0, 1),
}
LEARNED_FIELDS = {
    "reviewed_rows": _is_count(1),
    **dict.fromkeys(("rounds", "rows", "new_rows"), _is_count(1)),
    **dict.fromkeys(
        ("wrong", "new_wrong", "below", "already_known", "top", "top_kept"), _is_count()
    ),
    "expected": _is_number(0, MOST),
    "rate_before": _is_number(0, 1),
    "rate_after": _is_number(0, 1),
}
MEASURE_FIELDS = {
    "n_neighbors": _is_count(1),
    "n_mix_neighbors": _is_count(1),
    "mix": _is_list_of(_is_number(0, 1)),
    "seed": _is_count(most=2**63),
}


def _check(values: Mapping[str, Any], fields: Mapping[str, Test], where: str, name: str) -> None:
    for field, test in fields.items():
        if field not in values:
            raise InputError(f"{name} is damaged: its {MANIFEST} lacks {where}{field}.")
        if not test(values[field]):
            raise _wrong(name, f"{where}{field}", values[field])


def _check_each(values: Mapping[str, Any], test: Test, where: str, name: str) -> None:
    _check(values, dict.fromkeys(values, test), where, name)


def _wrong(name: str, field: str, value: Any) -> InputError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    return InputError(f"{name} is damaged: its {MANIFEST} gives {field} as {shown}.")


def _check_schema(name: str, manifest: Mapping[str, Any]) -> None:
    schema, versions = manifest.get("schema"), manifest.get("versions")
    by = versions.get("falcon-discover") if isinstance(versions, dict) else None
    by = by if isinstance(by, str) else "an unknown version"
    if type(schema) is not int:
        raise _wrong(name, "schema", schema)
    if schema > SCHEMA:
        raise InputError(
            f"{name} was saved by falcon-discover {by} in schema {schema}; this version reads "
            f"schemas up to {SCHEMA}: install that version or a newer one."
        )
    if schema < OLDEST:
        raise InputError(
            f"{name} was saved by falcon-discover {by} in schema {schema}; this version reads "
            f"schema {OLDEST} and above. Install falcon-discover {by} to use it, or fit and save "
            "again with this version."
        )
