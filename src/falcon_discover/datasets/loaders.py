"""Find a data set: a folder of parquet files, the package, the user's cache, OpenML."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import pandas as pd
import platformdirs
from sklearn.datasets import fetch_openml

from falcon_discover.datasets.registry import REGISTRY, DataSet, content_digest
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.atomic import atomic_write

FOLDER_VARIABLE = "FALCON_DISCOVER_DATA"
TARGET = "target"


def names() -> list[str]:
    """Return the names of the known data sets.

    Examples
    --------
    >>> names()[0]
    'adult'
    """
    return list(REGISTRY)


def cache_folder() -> Path:
    """Return the folder that `fetch` writes to."""
    return Path(platformdirs.user_cache_dir("falcon-discover")) / "data"


def entry(name: str) -> DataSet:
    """Return what is known about a data set."""
    if name not in REGISTRY:
        raise InputError(f"there is no data set {name!r}: choose one of {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def find(name: str) -> Path | None:
    """Return the local file of a data set, or None if it is not on this machine."""
    known = entry(name)
    places = [cache_folder()]
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        places.insert(0, Path(folder))
    embedded = Path(str(files(__package__))) / f"{known.name}.parquet"
    candidates = [place / f"{known.name}.parquet" for place in places]
    candidates.insert(len(places) - 1, embedded)
    return next((path for path in candidates if path.is_file()), None)


def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features and the 0/1 labels of a data set.

    Looked for in the folder that the variable FALCON_DISCOVER_DATA names, in the package (Adult
    only), in the user's cache, and then on OpenML.

    Examples
    --------
    >>> X, y = load("adult")
    >>> X.shape, int(y.sum())
    ((48842, 14), 11687)
    """
    path = find(name)
    if path is None:
        path = fetch(name)
    return _read(path)


def fetch(name: str) -> Path:
    """Download a data set from OpenML into the user's cache and return its file."""
    known = entry(name)
    ways = (
        f"put {name}.parquet into a folder and set {FOLDER_VARIABLE} to it; put it into "
        f"{cache_folder()}; or run 'falcon-discover datasets fetch {name}' with access to OpenML"
    )
    if known.openml_id is None:
        raise InputError(
            f"{known.title} is not on OpenML in this form. There are two ways to provide it: "
            + ways.rsplit("; or", 1)[0]
            + "."
        )
    try:
        # The error below says all there is to say.
        with notices.ignoring(UserWarning, "A network error occurred"):
            X, y = fetch_openml(
                data_id=known.openml_id, as_frame=True, return_X_y=True, parser="auto", n_retries=1
            )
    except Exception as error:  # whatever the network layer raises, the user needs the same advice
        raise InputError(
            f"data set {name!r} is not on this machine and OpenML did not answer "
            f"({type(error).__name__}). There are three ways to provide it: {ways}."
        ) from error
    table = X.assign(**{TARGET: (y.astype(str) == known.positive).astype("int8")})
    _check(known, X, table[TARGET])
    path = cache_folder() / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as (file,):
        table.to_parquet(file, compression="zstd", index=False)
    return path


def verify(name: str) -> str:
    """Return a sentence saying that the local copy is right, or raise saying how it is not."""
    path = find(name)
    if path is None:
        return "not on this machine"
    X, y = _read(path)
    known = entry(name)
    _check(known, X, y)
    if known.digest is None:
        return f"rows, columns and class counts match; no checksum is known ({path})"
    return f"contents match the expected checksum ({path})"


def _check(known: DataSet, X: pd.DataFrame, y: pd.Series) -> None:
    found = (len(X), X.shape[1], int(y.sum()))
    wanted = (known.rows, known.features, known.positives)
    if found != wanted:
        raise InputError(
            f"data set {known.name!r} has {found[0]:,} rows, {found[1]} features and "
            f"{found[2]:,} positives, not {wanted[0]:,}, {wanted[1]} and {wanted[2]:,}."
        )
    if known.digest is not None and content_digest(X, y) != known.digest:
        raise InputError(
            f"data set {known.name!r} has the expected shape but different values: fetch it again."
        )


def _read(path: Path) -> tuple[pd.DataFrame, pd.Series]:
    try:
        table = pd.read_parquet(path)
    except Exception as error:  # pyarrow raises many types for a damaged file
        raise InputError(f"{path} cannot be read as parquet: {error}") from error
    return table.drop(columns=TARGET), table[TARGET]
