"""Which rows an estimate was made on, and who has seen them, in words."""

# What is known about the rows of an estimate. Of a model that was given fitted, or of bare scores,
# nobody can tell from the rows whether the model has seen them.
HELD_OUT = "labelled rows that neither the model nor the ranker has seen"
NEW_ROWS = "labelled rows, provided that neither the model nor the ranker has seen them"
GIVEN_SCORES = (
    "the labelled rows of the fit, each judged by a ranker that has not seen it, and provided that "
    "the model has not seen them either. The final ranker uses slightly more rows, so this is "
    "an approximation"
)
CROSS_FITTED = (
    "the labelled rows of the fit, each judged by a model and a ranker that have not seen it. "
    "The final model and ranker use slightly more rows, so this is an approximation"
)
KNOWN_UNSEEN = (HELD_OUT, CROSS_FITTED)
