# %% [markdown]
# # Audit of an income model that decides on credit
#
# The Adult data (1994 census) stand in for a table of applicants: the model predicts who earns
# more than 50,000 dollars. When it is confidently wrong, someone is refused or granted credit
# and nobody looks twice. Runs for a few minutes; EXAMPLE_ROWS=5000 is faster.

# %%
import os

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from falcon_discover import FalconDiscover, datasets

ROWS = int(os.environ.get("EXAMPLE_ROWS", "30000"))
X, y = datasets.load("adult")
X, y = X[:ROWS], y[:ROWS]

# %% [markdown]
# A scikit-learn pipeline as it would be deployed. It is not fitted yet: FALCON-Discover cross-
# fits it, so every training row is judged by a model that has not seen it.

# %%
encode = make_column_transformer(
    (
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        make_column_selector(dtype_exclude="number"),
    ),
    remainder="passthrough",
)
model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=60, random_state=0))
X_known, X_new, y_known, y_new = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
falcon = FalconDiscover(model, random_state=0).fit(X_known, y_known)

# %% [markdown]
# How many confident errors are there among new applicants, and how many does a review find?

# %%
later = falcon.examine(X_new, y_new)
print(later.evaluate())

# %% [markdown]
# What to check first, and why.

# %%
queue = later.review(budget=0.01)
for row in queue.head(5).itertuples():
    print(f"row {row.Index}: predicted {row.predicted}, {row.reason}")

# %% [markdown]
# Where confident errors gather, and how much review is enough.

# %%
print(later.regions)
print(later.review_budget(max_residual_rate=0.01))

# %% [markdown]
# The same model, with lower probabilities where the evidence contradicts them.

# %%
calibrated = falcon.calibrated("discrepancy")
print(calibrated.predict_proba(X_new)[:5])
