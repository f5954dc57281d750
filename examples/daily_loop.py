# %% [markdown]
# # A review team's year, in eight weeks
#
# The model was audited once. After that, rows come in every week without labels. Each week:
# monitor them, list the riskiest for review, compare the reviewers' marks with the predicted risk,
# and learn from them. In week 6 the rows change: a new sales partner brings in older people who
# live alone and work long hours. The Adult data (1994 census) stand in for applicants. Runs for a
# few minutes; EXAMPLE_ROWS=8000 is faster.

# %%
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover, datasets
from falcon_discover.report.feedback import feedback

ROWS = int(os.environ.get("EXAMPLE_ROWS", "48000"))
WEEKS, CHANGE, BUDGET = 8, 6, 60
X, y = datasets.load("adult")
order = np.random.default_rng(0).permutation(len(X))[:ROWS]
X, y = X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
sixth = ROWS // 6
model = HistGradientBoostingClassifier(
    categorical_features="from_dtype", max_iter=100, random_state=0
).fit(X[:sixth], y[:sixth])

# %% [markdown]
# The audit: a sixth of the rows, new to the model, with labels.

# %%
audited = slice(sixth, 2 * sixth)
falcon = FalconDiscover(FrozenEstimator(model), random_state=0).fit(X[audited], y[audited])
print(falcon.evaluate().verdict())

# %% [markdown]
# Eight weeks of new rows. From week 6 on, two thirds come from the new partner.

# %%
rest = np.arange(2 * sixth, ROWS)
alone = X["marital-status"].isin(["Divorced", "Never-married", "Separated", "Widowed"])
partner = alone & (X["age"] >= 35) & (X["hours-per-week"] > 40)
rng = np.random.default_rng(1)
ordinary, theirs = rng.permutation(rest), rng.permutation(rest[partner[rest]])
# As many rows a week as the partner's last for.
size = max(3 * len(theirs) // (2 * (WEEKS - CHANGE + 1)), 40)


def rows_of_week(week: int) -> np.ndarray:
    """Return which rows come in during a week."""
    mine = ordinary[(week - 1) * size : week * size]
    if week < CHANGE:
        return mine
    share = 2 * size // 3
    start = (week - CHANGE) * share
    return np.concatenate([mine[: size - share], theirs[start : start + share]])


# %% [markdown]
# The loop. `marks` are what reviewers would send back after opening the page of the week's queue;
# here they are made from the labels that the data happen to have. The labels of the other rows
# stay unknown.

# %%
folder = Path(tempfile.mkdtemp(prefix="daily-loop-"))
lines = []
for week in range(1, WEEKS + 1):
    rows = rows_of_week(week)
    today, truth = X.iloc[rows].reset_index(drop=True), y.iloc[rows].to_numpy()

    batch = falcon.monitor(today)  # how many confident errors to expect, and what changed
    found = falcon.examine(today)
    page = found.report(folder / f"week-{week}", name=f"Week {week}", budget=BUDGET)
    queue = found.review(BUDGET)  # the same rows as on the page

    right = truth[queue["row"]] == queue["predicted"].to_numpy()
    marks = pd.DataFrame({"row": queue["row"], "mark": np.where(right, "right", "wrong")})
    checked = feedback(queue, marks)

    # The old audit stays as it was; the new one has also learned from this week's reviews.
    falcon = falcon.learn(today.iloc[queue["row"]], truth[queue["row"]])

    seen = checked.frame().iloc[0]
    lines.append(
        {
            "week": week,
            "expected errors": round(batch.errors),
            "interval": f"{batch.errors_low} to {batch.errors_high}",
            "alarm": batch.alarm,
            "wrong in the queue": f"{seen['wrong']:.0f} of {len(queue)}",
            "predicted share": f"{100 * seen['predicted']:.0f}%",
        }
    )
    if week in (1, CHANGE):
        print(f"\nWeek {week}: {page}\n{batch}\n\n{checked.words()}")

# %% [markdown]
# The monitor sees the change in the week in which it happens, before any label is known. The
# reviewers confirm it: of the same number of rows, more are wrong.

# %%
weeks = pd.DataFrame(lines)
print(f"\n{weeks.to_string(index=False)}")
if "EXAMPLE_OUT" in os.environ:
    weeks.to_csv(os.environ["EXAMPLE_OUT"], index=False)
print(f"\n{falcon.learned_}")

# %% [markdown]
# Months later the labels of week 6 arrive. Did the estimate hold?

# %%
rows = rows_of_week(CHANGE)
print(f"\n{falcon.monitor(X.iloc[rows]).compare(y.iloc[rows])}")
