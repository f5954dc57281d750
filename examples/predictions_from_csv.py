# %% [markdown]
# # Audit of predictions from a CSV file
#
# All you have is a file: features, the true outcome, and the score a model gave at the time. You
# cannot run the model.

# %%
import os
import tempfile
from pathlib import Path

import pandas as pd

from falcon_discover import datasets, discover

ROWS = int(os.environ.get("EXAMPLE_ROWS", "10000"))
folder = Path(tempfile.mkdtemp())
planted = datasets.make_planted(ROWS, shape="categorical", random_state=0)
planted.X.assign(outcome=planted.y, score=planted.proba).to_csv(folder / "scored.csv", index=False)

# %%
table = pd.read_csv(folder / "scored.csv")
features = table.drop(columns=["outcome", "score"])
found = discover(features, table["outcome"], table["score"], random_state=0)
print(found)

# %% [markdown]
# The region was planted, so its rule is known.

# %%
print("planted:", planted.rule)
print(found.regions)

# %% [markdown]
# The same from the command line:
#
#     falcon-discover audit scored.csv --target outcome --proba score --out audit/

# %%
review = found.review(budget=0.02)
review.to_csv(folder / "review.csv")
print(review.head())
