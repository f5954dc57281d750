# %% [markdown]
# # Audit of a fitted CatBoost model with native categories
#
# The model already exists and must stay as it is, so it is frozen. The rows given to `fit` are
# rows it was not trained on.

# %%
import os

from catboost import CatBoostClassifier
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover, datasets

ROWS = int(os.environ.get("EXAMPLE_ROWS", "30000"))
X, y = datasets.load("adult")
X, y = X[:ROWS], y[:ROWS]
categories = X.select_dtypes(exclude="number").columns
# CatBoost wants categories as text, without missing values.
X[categories] = X[categories].astype(object).fillna("unknown").astype(str)
third = len(X) // 3
train, audit, today = X[:third], X[third : 2 * third], X[2 * third :]

# %%
model = CatBoostClassifier(
    iterations=200,
    cat_features=list(categories),
    allow_writing_files=False,
    thread_count=2,
    verbose=False,
    random_seed=0,
)
model.fit(train, y[:third])

# %% [markdown]
# CatBoost gets the table as it is, categories included. To see whether a score is stable, numbers
# are blended with those of neighbours and categories switched.

# %%
falcon = FalconDiscover(FrozenEstimator(model), random_state=0)
falcon.fit(audit, y[third : 2 * third])
print(falcon.evaluate())
print(falcon.regions_)

# %% [markdown]
# Today's predictions have no labels yet. Ranked by risk:

# %%
queue = falcon.review(today, budget=0.005)
print(queue[["suspicion", "confidence", "predicted", "reason"]].head(10))
