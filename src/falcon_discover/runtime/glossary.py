"""The words of the report, the terminal and the docs, each explained in one sentence."""

from __future__ import annotations

GLOSSARY = {
    "AUROC": (
        "The chance that a ranking puts a randomly chosen error before a randomly chosen correct "
        "prediction: 1 is perfect, 0.5 is no better than chance."
    ),
    "base model": "The classifier that is audited; a backbone is one that the package can train.",
    "Brier score": (
        "The mean squared distance between the predicted probability and what happened; lower is "
        "better."
    ),
    "calibrated": (
        "A model is calibrated if its confidence matches how often it is right: of all predictions "
        "made with 90% confidence, 90% are correct."
    ),
    "calibration error": (
        "The average gap between confidence and accuracy (expected calibration error, ECE); 0 is "
        "best."
    ),
    "capture": "The share of all confident errors that a review finds.",
    "confidence": (
        "The probability that the model gives to the class it predicts; with two classes it is at "
        "least 50%."
    ),
    "confident error": (
        "A wrong prediction that the model made with a confidence at or above the threshold, "
        "usually 90%."
    ),
    "confident prediction": (
        "A prediction with a confidence at or above the threshold; only these can be confident "
        "errors."
    ),
    "discrepancy": (
        "A prediction that the model is sure of although the evidence around it is weak: few "
        "similar cases, neighbours with other labels, or an unstable score."
    ),
    "eligible AUROC": (
        "The AUROC among confident predictions only: how well a ranking puts confident errors "
        "before confident predictions that are right."
    ),
    "expected region": (
        "A region where confident errors are frequent, about as frequent as the model's own "
        "confidence there implies."
    ),
    "gated confidence": (
        "The simple rule to compare with: of the confident predictions, review the least "
        "confident first."
    ),
    "held-out rows": "Rows that the model was not trained on.",
    "label": "The known outcome of a row, taken from the data.",
    "log loss": (
        "A penalty for wrong probabilities that is largest for confident errors; lower is better."
    ),
    "mark": "What a reviewer says about a row after reading it.",
    "missed": "A confident error among the rows that are not reviewed.",
    "neighbours": "The known rows whose values are most similar to those of a row.",
    "out-of-fold": (
        "Judged by a model and a ranker that were trained on other rows than the one they judge."
    ),
    "95% interval": (
        "A range that covers the true figure in 95 of 100 repetitions; a wide one means there is "
        "little data."
    ),
    "queue": (
        "A review list of rows whose labels are not known yet: these are the ones to check by hand."
    ),
    "reference rows": "The labelled rows that a row is compared with.",
    "region": (
        "A rule on the columns, such as age >= 36 and contract is monthly, under which confident "
        "errors are frequent."
    ),
    "rehearsal": (
        "A review list of rows whose labels are known: it shows what a review would have found."
    ),
    "review budget": "How many rows people will check: a share of all rows, or a number of them.",
    "review list": "The rows to check, riskiest first, each with a reason.",
    "risk": (
        "The estimated probability that a prediction is a confident error; 5% means that about 1 "
        "in 20 such rows is wrong."
    ),
    "rows of the fit": (
        "The labelled rows that an audit was fitted on, as opposed to new rows that come later."
    ),
    "second opinion": ("What another model, trained on other rows, says about the same row."),
    "side": (
        "Which way a confident error goes: a yes that was called no, or a no that was called yes."
    ),
    "signal": (
        "A number that speaks for or against a prediction, such as how many neighbours share its "
        "label."
    ),
    "stability": ("Whether the score stays the same when the row is blended with its neighbours."),
    "support": "How many similar rows there are: thin support means the model had little to go on.",
    "surprise": "How unlikely an error seemed: it grows with the confidence of the model.",
    "suspicion": (
        "The number that orders the review list, highest first; where possible it is the risk."
    ),
    "threshold": (
        "The confidence from which a wrong prediction counts as a confident error (tau), 90% "
        "unless you choose another."
    ),
    "twins": "Rows with the same values and the same label, which may be copies of each other.",
    "unexpected region": (
        "A region with more confident errors than the model's own confidence there implies; the "
        "model is overconfident in it."
    ),
}
"""What each term means, by name."""


def meaning(term: str) -> str:
    """Return what a term means, in one sentence.

    Examples
    --------
    >>> meaning("review list")
    'The rows to check, riskiest first, each with a reason.'
    """
    return GLOSSARY[term]
