# %% [markdown]
# # Audit of an income model that decides on credit
#
# The Adult data (1994 census) stand in for a table of applicants: the model predicts who earns
# more than 50,000 dollars. Where it is confidently wrong, someone is refused or granted credit
# and nobody looks twice.

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
# fits it, so that every training row is judged by a model that has not seen it.

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
# How many confident errors are there among new applicants, and how many does a review of the top
# rows find?

# %%
later = falcon.examine(X_new, y_new)
print(later.evaluate())

# %% [markdown]
# Whom to look at first, and why.

# %%
queue = later.review(budget=0.01)
for row in queue.head(5).itertuples():
    print(f"row {row.Index}: predicted {row.predicted}, {row.reason}")

# %% [markdown]
# Who the confident errors are about, and how much review keeps the rest safe.

# %%
print(later.regions)
print(later.review_budget(max_residual_rate=0.01))

# %% [markdown]
# The same model with probabilities that drop where the evidence does not bear them out.

# %%
calibrated = falcon.calibrated("discrepancy")
print(calibrated.predict_proba(X_new)[:5])
