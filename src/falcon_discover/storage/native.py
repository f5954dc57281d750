"""Models of XGBoost, CatBoost and LightGBM in their libraries' own formats.

Before anything is stored, each such model is exchanged for a `NativeModel`, which holds only
plain values and the name of a part; after loading, it is exchanged back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.optional import require
from falcon_discover.storage.bounds import reading

# By library: the classes that are known, and the ending of its format.
LIBRARIES = {
    "xgboost": (("XGBClassifier", "XGBRFClassifier"), "ubj"),
    "catboost": (("CatBoostClassifier",), "cbm"),
    "lightgbm": (("LGBMClassifier",), "txt"),
}


@dataclass(frozen=True, eq=False)
class NativeModel:
    """Where a booster stood: its class, its part (None if unfitted), its plain attributes."""

    library: str
    name: str
    part: str | None
    values: dict[str, Any]


def extract_boosters(content: Any, parts: dict[str, bytes]) -> Any:
    """Return a copy in which boosters are `NativeModel`s, and put their files into `parts`."""

    def swap(value: Any) -> Any:
        library = type(value).__module__.partition(".")[0]
        names, ending = LIBRARIES.get(library, ((), ""))
        if type(value).__name__ not in names:
            return value
        values, data = _FORMATS[library][0](value)
        part = None
        if data is not None:
            part = f"models/{len(parts)}.{ending}"
            parts[part] = data
        return NativeModel(library, type(value).__name__, part, values)

    return _exchanged(content, swap, {})


def restore_boosters(content: Any, parts: Mapping[str, bytes], name: str) -> Any:
    """Return a copy in which `NativeModel`s are boosters again.

    Their libraries' parsers are native code: what a forged part does to them is not known here.
    """

    def swap(value: Any) -> Any:
        if not isinstance(value, NativeModel):
            return value
        known = value.name in LIBRARIES.get(value.library, ((), ""))[0]
        if not known or (value.part is not None and value.part not in parts):
            raise InputError(f"{name} names an unknown model, {value!r}.")
        library = require(value.library, extra=value.library, what=f"the model in {name}")
        data = None if value.part is None else parts[value.part]
        with reading(f"{name}, part {value.part},"):
            return _FORMATS[value.library][1](getattr(library, value.name), value.values, data)

    return _exchanged(content, swap, {})


def _exchanged(value: Any, swap: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    """Return `value` with every object inside it passed through `swap`.

    Only what holds an exchanged object is copied; an object that occurs twice stays one object.
    """
    if value is None or isinstance(value, str | bytes | int | float | type):
        return value
    if id(value) in done:
        return done[id(value)][1]
    # Kept alive with its result, so that its id is not given to another object meanwhile.
    done[id(value)] = (value, value)
    result = swap(value)
    if result is value:
        result = _exchanged_inside(value, swap, done)
    done[id(value)] = (value, result)
    return result


def _exchanged_inside(value: Any, swap: Callable[[Any], Any], done: dict[int, Any]) -> Any:
    if type(value) in (list, tuple):
        items = [_exchanged(item, swap, done) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else type(value)(items)
    plain = type(value) is dict
    if not plain and (
        isinstance(value, FunctionType | ModuleType) or not hasattr(value, "__dict__")
    ):
        return value
    held = value if plain else vars(value)
    changed = {
        key: new for key, old in held.items() if (new := _exchanged(old, swap, done)) is not old
    }
    if not changed:
        return value
    other = copy(value)
    (other if plain else vars(other)).update(changed)
    return other


Written = tuple[dict[str, Any], bytes | None]


def _write_xgboost(model: Any) -> Written:
    fitted = model.__sklearn_is_fitted__()
    return model.get_params(), bytes(model.get_booster().save_raw("ubj")) if fitted else None


def _read_xgboost(model_class: Any, values: dict[str, Any], data: bytes | None) -> Any:
    model = model_class(**values)
    if data is not None:
        model.load_model(bytearray(data))
    return model


def _write_catboost(model: Any) -> Written:
    if not model.is_fitted():
        return model.get_params(), None
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "model.cbm"
        model.save_model(str(file), format="cbm")
        return model.get_params(), file.read_bytes()


def _read_catboost(model_class: Any, values: dict[str, Any], data: bytes | None) -> Any:
    model = model_class(**values)
    return model if data is None else model.load_model(blob=data)


def _write_lightgbm(model: Any) -> Written:
    # The wrapper keeps what it learned about classes and columns beside the booster.
    values = {name: value for name, value in vars(model).items() if name != "_Booster"}
    # Curves of the training, which nothing here reads, are kept in types of their own.
    values |= {"_evals_result": {}, "_best_score": {}}
    fitted = getattr(model, "_Booster", None) is not None
    return values, model.booster_.model_to_string().encode() if fitted else None


def _read_lightgbm(model_class: Any, values: dict[str, Any], data: bytes | None) -> Any:
    from lightgbm import Booster

    model = model_class()
    vars(model).update(values)
    if data is not None:
        model._Booster = Booster(model_str=data.decode())
    return model


Reader = Callable[[Any, dict[str, Any], bytes | None], Any]
_FORMATS: dict[str, tuple[Callable[[Any], Written], Reader]] = {
    "xgboost": (_write_xgboost, _read_xgboost),
    "catboost": (_write_catboost, _read_catboost),
    "lightgbm": (_write_lightgbm, _read_lightgbm),
}
