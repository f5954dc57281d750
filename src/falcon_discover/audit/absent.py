"""What to say where a part of an audit is missing."""

from falcon_discover.signals.catalogue import STABILITY_SIGNALS

# The name of a base model that is not there: its scores are given with the rows.
PRECOMPUTED = "precomputed"
# What a report says of an audit without a model.
PREDICTIONS = {
    "mode": "predictions only",
    "absent": "the stability signals: there was no model to probe",
}
NO_MODEL = (
    "There was no model to probe, so the stability signals "
    f"({', '.join(STABILITY_SIGNALS)}) are absent and rankers that need them are left out."
)
NO_SCORES = (
    "this audit was made of predictions alone and has no model to ask for scores: give those of "
    "the rows as proba."
)
OWN_SCORES = (
    "proba was given, and this audit asks its own model for scores: leave proba out, or use "
    "FalconDiscover('precomputed')."
)
ONLY_CONFIDENCE = (
    "this audit was saved without reference rows: rows are ranked by gated confidence, and all "
    "signals but the model's own certainty are missing. Save with reference='sample' or 'full' "
    "for more."
)
NO_FIT_ROWS = (
    "the rows given to fit were left out when this audit was saved: give X (and y); for figures, "
    "examine(X, y).plot."
)
LEFT_OUT = (
    "the rows of the fit, which were left out when this audit was saved: save it with "
    "reference='sample' or 'full'."
)
