"""How often predictions on training rows are noticed."""

from __future__ import annotations

from figures.common import results, table

# By what the model was trained on.
TRAINED_ON = {"these rows": "these rows", "as many others": "as many other rows"}
MORE = "up to 20 times as many other rows"


def in_sample_table() -> str:
    """Return how many audits of each kind of model begin with the warning."""
    known = results("in_sample.csv")
    groups = known["trained_on"].map(TRAINED_ON).fillna(MORE)
    heads = ["audits with a warning, by training rows of the model", *TRAINED_ON.values(), MORE]
    rows = []
    for model in known["model"].unique():
        line = [model]
        for group in heads[1:]:
            accused = known.loc[(known["model"] == model) & (groups == group), "accused"]
            line.append(f"{int(accused.sum())} of {len(accused)}")
        rows.append(line)
    return table(heads, rows)


TABLES = {"in_sample": in_sample_table}
