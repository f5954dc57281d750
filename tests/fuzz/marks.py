"""Reviewers' marks as they come back: edited, sorted, half filled in, of other rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from falcon_discover.monitoring.marks import located, marked
from falcon_discover.report.feedback import feedback
from fuzz.doors import right
from fuzz.outcome import outcome
from fuzz.parts import Part
from strategies import SEEDS, Given
from support.columns import COLUMNS

WORDS = ("right", "wrong", "Wrong ", "model wrong", "label wrong", "label_wrong", "unsure", "",
         None, np.nan, "maybe", "RIGHT", 1, True, "=wrong", "<b>", b"wrong", 0.5)  # fmt: skip
# Marks come from a file, which cannot hold everything that a table can.
IN_FILES = sorted(
    name
    for name in COLUMNS
    if name not in ("odd", "types", "Decimal sNaN", "longdouble", "Arrow half", "float16")
    and not name.startswith(("big-endian", "sparse", "complex"))
)
GOOD = ("right", "wrong", "unsure", "label wrong")


def review_list(rng: np.random.Generator, n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [f"{i:03d}" for i in range(n)],
            "row": rng.permutation(100)[:n],
            "suspicion": np.sort(rng.random(n))[::-1],
            "predicted": rng.choice(["no", "yes"], n),
            "actual": rng.choice(["no", "yes"], n),
            "confidence": rng.uniform(0.5, 1, n),
            "label_doubt": rng.random(n),
        }
    )


@st.composite
def returned(draw: st.DrawFn) -> dict[str, Any]:
    """A review list, and marks of it."""
    kind = ""
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(st.sampled_from((0, 1, 5, 40, 40)))
    review = review_list(rng, n)
    odd = draw(st.sampled_from((0, 0, 0, 1, 2, 2, 4, 8, 8, 16, 32, 34, 40, 63)))
    words = WORDS if odd & 1 else GOOD
    marks = review[["row", "id"]].assign(mark=[words[i] for i in rng.integers(0, len(words), n)])
    marks = marks.sample(frac=rng.random(), random_state=int(rng.integers(2**31)))
    if odd & 2:
        column = draw(st.sampled_from(("row", "mark", "id")))
        kind = draw(st.sampled_from(IN_FILES))
        marks[column] = pd.Series(COLUMNS[kind](rng, len(marks)), index=marks.index)
    if odd & 4:
        marks = marks.drop(columns=draw(st.sampled_from(("row", "mark", "id"))))
    if odd & 8:
        column = draw(st.sampled_from(list(review)))
        if draw(st.booleans()):
            review = review.drop(columns=column)
        else:
            kind = draw(st.sampled_from(IN_FILES))
            review[column] = pd.Series(COLUMNS[kind](rng, n), index=review.index)
    if odd & 16:
        marks = pd.concat([marks, marks.iloc[:1]])
    if odd & 32:
        marks.index = pd.Index([0] * len(marks))
    tau = draw(st.sampled_from((0.5, 0.9, {"no": 0.9, "yes": 0.8}, {"no": 0.9})))
    severity = draw(st.sampled_from(("count", "surprise")))
    made = f"{n} rows, oddities {odd:b}, a column of {kind!r}, tau {tau}, {severity}"
    return {
        "review": Given(review, "list"),
        "marks": Given(marks, made),
        "tau": tau,
        "severity": severity,
    }


def compared(case: dict[str, Any]) -> str:
    review, marks = case["review"].value, case["marks"].value

    def call() -> None:
        found = feedback(review, marks, tau=case["tau"], severity=case["severity"])
        whole = found.table.iloc[0]
        right(0 <= whole["wrong"] <= whole["rows"] <= len(marks), "no count")
        right(whole["rows"] + found.unsure + found.below == len(marks), "marks are lost")
        json.dumps(found.to_dict())
        str(found)

    return outcome(call, review, marks)


def to_learn_from(case: dict[str, Any]) -> str:
    review, marks = case["review"].value, case["marks"].value
    identity = "id" if case["severity"] == "surprise" else None

    def call() -> None:
        judged, unsure = marked(marks, "marks.csv", identity)
        right(len(judged) + unsure <= len(marks), "more marks than there are")
        right(judged["mark"].isin(["right", "wrong"]).all(), "a mark that says nothing")
        # Without names, marks give numbers of rows in a file of a hundred.
        file = review if identity else pd.DataFrame(index=range(100))
        rows = located(judged, file, "rows.csv", identity)
        right(len(rows) == len(judged) and (rows < len(file)).all(), "other rows")
        if identity is not None:
            ours = review["id"].iloc[rows].astype(str).tolist()
            theirs = judged["id"].astype(str).str.removeprefix("'").tolist()
            right(ours == theirs, "marks are put to other rows")

    return outcome(call, review, marks)


PARTS = (
    Part("marks compared with a review list", returned(), compared, 500),
    Part("marks to learn from", returned(), to_learn_from, 500),
)
