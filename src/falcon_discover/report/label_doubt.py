"""What a report knows about wrong labels among the confident errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from falcon_discover.audit.finding import Finding
from falcon_discover.evaluation.sides import plain_label
from falcon_discover.exceptions import InputError
from falcon_discover.report.rows import row_numbers
from falcon_discover.runtime.records import records
from falcon_discover.runtime.types import FloatArray

FIRST_LABELS = 10
# A ranker that estimates no risk needs one that does fitted beside it: up to so many rows it is.
FEW_ROWS = 6_000
COSTLY = (
    "Not computed, to save time: this ranker estimates no risk, so another would have to be "
    "fitted. Ask for it with finding.label_doubt() in Python, or audit with the ranker 'auto'."
)


def label_doubt(
    found: Finding, left_out: dict[str, str]
) -> tuple[dict[str, Any] | None, FloatArray | None]:
    """Return the summary's figures and each row's doubt; where there is none, say why.

    The doubt of rows whose label does not contradict a confident prediction is NaN.
    """
    if found.codes is None:
        return None, None
    rows = max(len(found.audit.training.oof.codes), len(found.state))
    if found.risk() is None and rows > FEW_ROWS:
        left_out["label_doubt"] = COSTLY
        return None, None
    try:
        noise = found.label_noise()
    except InputError as error:
        left_out["label_doubt"] = f"{str(error)[0].upper()}{str(error)[1:]}"
        return None, None
    figures = noise.to_dict()
    del figures["labels"]
    table = noise.frame()
    places = np.searchsorted(found.places, table["row"].to_numpy(dtype=np.intp))
    doubts = np.full(len(found.state), np.nan)
    doubts[places] = table["label_doubt"]
    first = table.assign(row=row_numbers(found)[places]).head(FIRST_LABELS)
    return figures | {"first": records(first.map(plain_label))}, doubts
