"""The data sets of the study: where they come from and what they must contain."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from falcon_discover.data.table import Table


@dataclass(frozen=True)
class DataSet:
    """A known data set.

    Parameters
    ----------
    openml_id : its number on OpenML, or None if OpenML does not have it in this form
    positive : the label that counts as 1, as OpenML spells it
    digest : `content_digest` of its rows, or None where the rows were never at hand
    """

    name: str
    title: str
    openml_id: int | None
    rows: int
    features: int
    positives: int
    positive: str
    digest: str | None


_ALL = (
    DataSet(
        "adult", "Adult", 1590, 48_842, 14, 11_687, ">50K",
        "cfb34b7421b5d71e4f88814bff35d125b2e322868b8a0b05b399eb85f8804b37",
    ),
    DataSet(
        "bank_marketing", "Bank Marketing", 1461, 45_211, 16, 5_289, "2",
        "c7f36d1c587597e6baaf1dcc71c697502cd7ffee9c9021f05e83f32d3e61ceb7",
    ),
    DataSet(
        "spambase", "Spambase", 44, 4_601, 57, 1_813, "1",
        "d2c73405f7b43f1f7ce9b71c480927af34af7c6e026269da72be9e666c76b869",
    ),
    DataSet("miniboone", "MiniBooNE", 41150, 130_064, 50, 36_499, "True", None),
    DataSet(
        "magic_telescope", "Magic Telescope", 1120, 19_020, 10, 12_332, "g",
        "6bb37b26bc9e24a345931bd289f1a923d3bcdb1d5182128b4e6e59f0dbfa28c5",
    ),
    DataSet(
        "nomao", "Nomao", 1486, 34_465, 118, 24_621, "2",
        "b8c22ad5ff80d8a1dd56fc99ee3955f878eab81947b3f7f65a691334102e5c5b",
    ),
    DataSet(
        "phoneme", "Phoneme", 1489, 5_404, 5, 1_586, "2",
        "24a843ae4b07eaefb173c1d657ab92c4929b0521c9092fe89bdd3cc2cc6e6d71",
    ),
    DataSet(
        "miniboone_subset", "MiniBooNE sample (6,448 of 130,064 rows)", None, 6_448, 50, 1_814, "1",
        "94344f67395eceaee8cd52410ffe33f32019201301b7df84c1f4e72968e100fa",
    ),
)  # fmt: skip
REGISTRY: dict[str, DataSet] = {entry.name: entry for entry in _ALL}


def content_digest(X: pd.DataFrame, y: pd.Series) -> str:
    """Return the SHA-256 of names and values, whatever file or types they came in.

    Examples
    --------
    >>> a = content_digest(pd.DataFrame({"x": [1, 2]}), pd.Series([0, 1]))
    >>> a == content_digest(pd.DataFrame({"x": [1.0, 2.0]}), pd.Series([False, True]))
    True
    """
    digest = hashlib.sha256()
    table = Table.from_input(X)
    for name, kind in table.kinds.items():
        digest.update(f"{name}\x1f{kind}\x1e".encode())
        column = table.frame[name]
        if kind == "categorical":
            texts = ["\x00" if pd.isna(value) else value for value in column.tolist()]
            digest.update("\x1f".join(texts).encode())
        else:
            # One bit pattern for every missing value, and none for minus zero.
            digest.update((column.fillna(np.nan).to_numpy(np.float64) + 0.0).tobytes())
    digest.update(np.asarray(y, dtype=np.int8).tobytes())
    return digest.hexdigest()
