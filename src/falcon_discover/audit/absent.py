"""What to say when a part of an audit is missing."""

from falcon_discover.signals.catalogue import STABILITY_SIGNALS

# The name of a base model that is not there: its scores are given with the rows.
PRECOMPUTED = "precomputed"
# What a report says of an audit without a model.
PREDICTIONS = {
    "mode": "predictions only",
    "absent": "the stability signals, which need the model",
}
NO_MODEL = (
    "Without the model there are no stability signals "
    f"({', '.join(STABILITY_SIGNALS)}), and rankers that need them are left out."
)
NO_SCORES = (
    "this audit was made from predictions alone and has no model: pass the scores of these rows "
    "as proba."
)
OWN_SCORES = (
    "proba was given, but this audit gets its scores from its own model: leave proba out, or use "
    "FalconDiscover('precomputed')."
)
ONLY_CONFIDENCE = (
    "this audit was saved without reference rows: it ranks rows by gated confidence and has only "
    "the signals of the model's own certainty. Save with reference='sample' or 'full' to get all."
)
NO_FIT_ROWS = (
    "the rows given to fit were left out when this audit was saved: pass X (and y); for plots, use "
    "examine(X, y).plot."
)
LEFT_OUT = (
    "the rows of the fit, which were left out when this audit was saved: save it with "
    "reference='sample' or 'full'."
)
