"""A fitted audit as a manifest and parts, and back."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from falcon_discover.audit.finding import REGION_WITNESS, Discovery
from falcon_discover.data.table import Table, take_rows
from falcon_discover.data.view import TransformedView
from falcon_discover.evaluation.budget import CROSS_FITTED, GIVEN_SCORES
from falcon_discover.exceptions import InputError
from falcon_discover.models.adapter import Probe, probe
from falcon_discover.rankers.base import Ranker
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.rules import Rule
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import IntArray
from falcon_discover.runtime.versions import version_of
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.neighbours.index import LabelledIndex
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import Measure, State
from falcon_discover.storage import frames, native, objects
from falcon_discover.storage.archive import Archive
from falcon_discover.storage.bare import RANKER, BareDiscovery, BareMeasure, BareReference
from falcon_discover.storage.manifest import (
    ENCODED,
    FIT_ROWS,
    FIT_TABLE,
    OBJECTS,
    REFERENCE,
    REGIONS,
    VALIDATION_FEATURES,
    VALIDATION_ROWS,
)

Keep = Literal["full", "sample", "none"]
# A sample is a tenth of the rows, but at least this many.
SAMPLE_SHARE = 0.1
SAMPLE_AT_LEAST = 1000
PACKAGES = ("falcon-discover", "scikit-learn", "numpy", "pandas", "skops")
SIGNAL, EVIDENCE, APART = "signal:", "evidence:", "apart:"
Parts = dict[str, bytes]


def stored(falcon: Any, keep: Keep) -> tuple[dict[str, Any], Parts, list[str]]:
    """Return manifest and parts of a fitted `FalconDiscover`, and types that must be trusted."""
    if keep not in get_args(Keep):
        raise InputError(f"reference is {keep!r}: choose one of {', '.join(get_args(Keep))}.")
    bare = isinstance(falcon._reference, BareReference)
    if bare and keep != "none":
        raise InputError("this audit has no reference rows to save: use reference='none'.")
    # A loaded audit may hold fewer rows than it was fitted on, unless it was fitted again.
    loaded, fitted_on = getattr(falcon, "_loaded", (None, 0))
    if loaded is not falcon.discovery_:
        fitted_on = len(falcon.discovery_.state)
    parts: Parts = {}
    content: dict[str, Any] = {
        "parameters": falcon.get_params(deep=False),
        "model": falcon.model_,
        "classes": falcon.classes_,
        "feature_names": getattr(falcon, "feature_names_in_", None),
        "view": _own_view(falcon),
    }
    manifest: dict[str, Any] = {
        "model": {
            "backbone": falcon.backbone_,
            "candidates": falcon.candidates_,
            "name": _model_name(falcon),
        },
        "classes": [str(label) for label in falcon.classes_],
        "tau": float(falcon.discovery_.tau),
        "columns": falcon._kinds,
        "n_features": falcon.n_features_in_,
        "category_values": sum(len(v) for v in falcon._reference.view.values_.values()),
        "reference": {"kept": "none", "rows": 0, "validation_rows": 0, "of": fitted_on},
    }
    if keep == "none":
        manifest["ranker"] = RANKER
        manifest["seed"] = int(falcon.discovery_.seed)
    else:
        _store_rows(falcon, keep, content, manifest, parts)
    parts[OBJECTS], strange = objects.dumped(native.taken_out(content, parts))
    manifest["versions"] = _versions(parts)
    return manifest, parts, strange


def restored(archive: Archive, trusted: Collection[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the fitted attributes of the `FalconDiscover` that was saved."""
    manifest = archive.manifest
    _warn_other_versions(manifest, archive.name)
    where = archive.named(OBJECTS)
    content = objects.loaded(archive.parts[OBJECTS], trusted, name=where, limit=archive.limit)
    # Other parts have their own sentence; what is left is due to the objects.
    with frames.reading(where):
        content = native.put_back(content, archive.parts, archive.name)
        parameters, model = content["parameters"], content["model"]
        classes = content["classes"]
        library = parameters["estimator"] is None or isinstance(parameters["estimator"], str)
        asked = probe(model, 1 if library else classes[1])
        view: Any = content["view"] or asked.view
        attributes = {
            "model_": model,
            "classes_": classes,
            "backbone_": manifest["model"]["backbone"],
            "candidates_": manifest["model"]["candidates"],
            "n_features_in_": manifest["n_features"],
            "_kinds": dict(manifest["columns"]),
            "_probe": asked,
        }
        if content["feature_names"] is not None:
            attributes["feature_names_in_"] = content["feature_names"]
        if manifest["reference"]["kept"] == "none":
            found: Discovery = BareDiscovery.empty(
                classes, manifest["tau"], manifest.get("seed", 0)
            )
            attributes["_measure"] = BareMeasure()
            attributes["_reference"] = BareReference(view, asked)
        else:
            measure = manifest["measure"]
            attributes["_measure"] = Measure(**{**measure, "mix": tuple(measure["mix"])})
            attributes["_reference"] = _reference(
                content, view, asked, archive, parameters["n_jobs"]
            )
            found = _discovery(content, archive)
        attributes["discovery_"] = found
        attributes["_loaded"] = (found, manifest["reference"]["of"])
        attributes["regions_"] = found.regions
        attributes["ranker_"] = found.training.ranker(found.ranker, found.tau)
        return parameters, attributes


def _model_name(falcon: Any) -> str:
    """Return what people call the model: of one that was given, the class inside the wrappers."""
    if falcon._is_library:
        return str(falcon.backbone_)
    model = falcon.model_
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    last = f", {type(model[-1]).__name__} at its end" if isinstance(model, Pipeline) else ""
    return f"{type(model).__name__}{last}"


def _own_view(falcon: Any) -> Any:
    view = falcon._reference.view
    return None if view is falcon._probe.view else view


def _store_rows(
    falcon: Any, keep: Keep, content: dict[str, Any], manifest: dict[str, Any], parts: Parts
) -> None:
    """Put everything that holds rows, or was measured on them, into content and parts."""
    reference, found = falcon._reference, falcon.discovery_
    training, seed = found.training, falcon._measure.seed
    kept = _kept(training.oof.codes, keep, seed)
    checked = training.validation
    kept_checked = np.empty(0, dtype=np.intp)
    if checked is not None:
        kept_checked = _kept(checked.codes, keep, seed)
        parts[VALIDATION_ROWS] = frames.parquet(_frame(checked, kept_checked))
        parts[VALIDATION_FEATURES] = frames.npz({"features": checked.state.features[kept_checked]})
    fit_rows = _frame(training.oof, kept).assign(learned=found.learned[kept])
    parts[FIT_ROWS] = frames.parquet(fit_rows.set_axis(found.index[kept]))
    parts[FIT_TABLE] = frames.parquet(found.table.frame.iloc[kept].reset_index(drop=True))
    arrays = {
        "labels": reference.labels[kept],
        "p": reference.p[kept],
        "coordinates": reference.coordinates[kept],
    }
    if reference.hashes is not None:
        arrays["hashes"] = reference.hashes[kept]
    parts[REFERENCE] = frames.npz(arrays)
    layout = None
    if reference.view is not reference.probe.view:
        layout, parts[ENCODED] = frames.rows_stored(take_rows(reference.encoded, kept))
    ranked = np.concatenate([kept, len(training.oof.codes) + kept_checked])
    content |= {
        "support": reference.support,
        "opinions": reference.opinions,
        "spec": found.ranker,
        "ranker": _without_rows(falcon.ranker_, ranked),
        "witness": _witness(found),
        "regions": _regions_stored(found.regions, ranked, parts),
    }
    whole = len(kept) == manifest["reference"]["of"]
    manifest["reference"] |= {
        "kept": "full" if whole else "sample",
        "rows": len(kept),
        "validation_rows": len(kept_checked),
        "encoded": layout,
        "recall": reference.recall,
    }
    measure = falcon._measure
    manifest["measure"] = {
        "n_neighbors": int(measure.n_neighbors),
        "n_mix_neighbors": int(measure.n_mix_neighbors),
        "mix": [float(weight) for weight in measure.mix],
        "seed": int(measure.seed),
    }
    manifest["ranker"] = getattr(falcon.ranker_, "name", type(falcon.ranker_).__name__)


def _kept(codes: Any, keep: Keep, seed: int) -> IntArray:
    """Return the positions of the rows to keep, in order; a sample has each class's share."""
    if keep == "full":
        return np.arange(len(codes))
    size = min(len(codes), max(SAMPLE_AT_LEAST, round(SAMPLE_SHARE * len(codes))))
    rng = np.random.default_rng(seed)
    chosen = []
    for label in (0, 1):
        own = np.flatnonzero(codes == label)
        share = min(len(own), max(1, round(size * len(own) / len(codes))))
        chosen.append(rng.permutation(own)[:share])
    return np.sort(np.concatenate(chosen))


def _frame(rows: LabelledState, kept: IntArray) -> pd.DataFrame:
    state = rows.state.take(kept)
    frame = pd.concat(
        [state.signals.add_prefix(SIGNAL), state.evidence.add_prefix(EVIDENCE)], axis=1
    ).assign(p=state.p, label=rows.codes[kept])
    if state.apart is not None:
        frame = pd.concat([frame, state.apart.frame(APART)], axis=1)
    return frame if state.fold is None else frame.assign(fold=state.fold)


def _labelled(frame: pd.DataFrame, features: Any) -> LabelledState:
    def columns(prefix: str) -> pd.DataFrame:
        chosen = [name for name in frame.columns if name.startswith(prefix)]
        return frame[chosen].rename(columns=lambda name: name.removeprefix(prefix)).copy()

    frame = frame.reset_index(drop=True)
    fold = frame["fold"].to_numpy(copy=True) if "fold" in frame else None
    p = frame["p"].to_numpy(copy=True)
    apart = Apart.from_frame(columns(APART))
    state = State(p, columns(SIGNAL), columns(EVIDENCE), fold, features, apart)
    return LabelledState(state, frame["label"].to_numpy(np.int8, copy=True))


def _without_rows(ranker: Ranker, kept: IntArray) -> Ranker:
    """Return the ranker; scores it keeps of the rows it learned from are cut to those kept."""
    held = {name: value for name, value in vars(ranker).items() if name.startswith("held_out_")}
    if not held:
        return ranker
    other = copy(ranker)
    for name, value in held.items():
        setattr(other, name, value[kept])
    return other


def _witness(found: Discovery) -> Ranker:
    # Where it has nothing to learn, regions do without; fit has said what there is to say.
    with notices.collected():
        return found.training.ranker(REGION_WITNESS, found.tau)


def _regions_stored(regions: RegionSet, kept: IntArray, parts: Parts) -> dict[str, Any]:
    clusters = regions.clusters
    parts[REGIONS] = frames.parquet(clusters.summary)

    def cut(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(replace(rule, rows=np.flatnonzero(np.isin(kept, rule.rows))) for rule in rules)

    return {
        "clusters": {n: getattr(clusters, n) for n in ("model", "columns", "order")},
        "rules": cut(regions.rules),
        "foreseen": cut(regions.foreseen),
    }


def _regions_restored(stored: dict[str, Any], archive: Archive) -> RegionSet:
    clusters = Clusters(**stored["clusters"], summary=_table(archive, REGIONS))
    return RegionSet(stored["rules"], stored["foreseen"], clusters)


def _table(archive: Archive, part: str, rows: int | None = None) -> pd.DataFrame:
    return frames.from_parquet(archive.parts[part], archive.limit, archive.named(part), rows)


def _arrays(archive: Archive, part: str, rows: int) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a part, each with so many rows."""
    where = archive.named(part)
    arrays = frames.from_npz(archive.parts[part], archive.limit, where)
    for name, values in arrays.items():
        if values.shape[:1] != (rows,):
            raise InputError(f"{where} is damaged: {name} does not have {rows:,} rows.")
    return arrays


def _reference(
    content: dict[str, Any],
    view: TransformedView,
    asked: Probe,
    archive: Archive,
    n_jobs: int | None,
) -> Reference:
    about = archive.manifest["reference"]
    arrays = _arrays(archive, REFERENCE, about["rows"])
    with frames.reading(archive.named(REFERENCE)):
        encoded: Any = arrays["coordinates"].astype(view.dtype, copy=False)
        index = LabelledIndex(arrays["coordinates"], arrays["labels"], n_jobs)
    if about["encoded"] is not None:
        where = archive.named(ENCODED)
        encoded = frames.rows_restored(
            about["encoded"], archive.parts[ENCODED], archive.limit, where, about["rows"]
        )
    return Reference(
        arrays["labels"],
        arrays["p"],
        view,
        index,
        content["support"],
        asked,
        encoded,
        arrays.get("hashes"),
        content["opinions"],
    )


def _discovery(content: dict[str, Any], archive: Archive) -> Discovery:
    manifest = archive.manifest
    rows, checked = (manifest["reference"][name] for name in ("rows", "validation_rows"))
    frame = _table(archive, FIT_ROWS, rows)
    coordinates = _arrays(archive, REFERENCE, rows)["coordinates"]
    with frames.reading(archive.named(FIT_ROWS)):
        oof = _labelled(frame, coordinates)
        learned = frame["learned"].to_numpy(copy=True)
    validation = None
    if checked:
        other = _table(archive, VALIDATION_ROWS, checked)
        features = _arrays(archive, VALIDATION_FEATURES, checked)["features"]
        with frames.reading(archive.named(VALIDATION_ROWS)):
            validation = _labelled(other, features)
    training = TrainingRows(oof, validation)
    tau, spec = manifest["tau"], content["spec"]
    training.keep(REGION_WITNESS, tau, content["witness"])
    training.keep(spec, tau, content["ranker"])
    table = _table(archive, FIT_TABLE, rows)
    return Discovery(
        Table(table, table, dict(manifest["columns"]), frame.index),
        oof.state,
        oof.codes,
        frame.index,
        content["classes"],
        tau,
        spec,
        _regions_restored(content["regions"], archive),
        learned,
        training,
        own_rows=True,
        source=GIVEN_SCORES
        if isinstance(content["parameters"]["estimator"], FrozenEstimator)
        else CROSS_FITTED,
        seed=manifest["measure"]["seed"],
    )


def _versions(parts: Mapping[str, bytes]) -> dict[str, str]:
    endings = {ending: library for library, (_, ending) in native.LIBRARIES.items()}
    used = {endings.get(part.rpartition(".")[2]) for part in parts if part.startswith("models/")}
    found = {"python": platform.python_version()}
    for package in (*PACKAGES, *sorted(filter(None, used))):
        found[package] = version_of(package)
    return found


def _warn_other_versions(manifest: Mapping[str, Any], name: str) -> None:
    """Warn where a model's library is not the one that the audit was saved with."""
    for package, then in manifest["versions"].items():
        now = version_of(package)
        if package in ("scikit-learn", *native.LIBRARIES) and now != then:
            notices.warn(
                f"{name} was saved with {package} {then}, and this is {now}: its scores may differ."
            )
