"""Every sentence of the report, by key; sections fill in the figures, the page shows the key.

Headings and what the page's script says stand in `labels.py`.
"""

from __future__ import annotations

from typing import Any, Self

SENTENCES = {
    # The verdict: a judgement, then its figures.
    "verdict.more": "The model is overconfident. {errors} of its {rows} confident predictions were "
    "wrong ({rate}); its own confidence implies about {expected}.",
    "verdict.same": "Overall, the model is as reliable as it claims. {errors} of its {rows} "
    "confident predictions were wrong ({rate}); its own confidence implies about {expected}.",
    "verdict.fewer": "The model is more reliable than it claims. {errors} of its {rows} confident "
    "predictions were wrong ({rate}); its own confidence implies about {expected}.",
    "verdict.none": "No confident error was found. All {rows} confident predictions were right; "
    "the model's own confidence implies about {expected} errors. With 95% confidence, fewer than "
    "{high} of such predictions are wrong{provided}.",
    "verdict.never": "The model is never confident here. None of its {audited} predictions reaches "
    "{level}, so none can be a confident error.",
    "verdict.doubtful": "Do not rely on these figures: read the warning first. {errors} of {rows} "
    "confident predictions were wrong.",
    "verdict.queue": "Check these {listed} rows first: about {expected} of them should turn out to "
    "be confident errors ({ratio}).",
    "verdict.queue.unknown": "Check these {listed} rows first. The ranking does not estimate how "
    "many are wrong; the model's own confidence implies about {implied} errors among all {rows} "
    "confident predictions.",
    "verdict.queue.never": "There is nothing to check. None of the {audited} predictions reaches "
    "{level}, so none can be a confident error.",
    "verdict.unlabelled": "The model is at least {level} sure of {rows} of its {audited} "
    "predictions. Their labels are not known: the rows are ranked, not judged.",
    "provided.unseen": ", provided the model was not trained on these rows",
    # What to do next.
    "next.alert": "Settle the warning above, then run the audit again.",
    "next.guarantee": "Review the riskiest {budget} ({rows} of {audited} rows). With {level} "
    "confidence, at most {target} of the rest are then confident errors.",
    "next.guarantee.none": "No review is needed for your limit: with {level} confidence, at most "
    "{target} of the predictions are confident errors.",
    "next.guarantee.all": "Review every confident prediction ({budget} of the rows): no smaller "
    "review could be shown to leave at most {target} confident errors in the rest.",
    "next.regions": "Review by hand wherever {region}: {errors} of {rows} confident predictions "
    "were wrong, about {expected} expected.",
    "next.recalibrate": "Recalibrate the model, or act on higher confidence only.",
    "next.wrong": "Look into the {errors} errors in the list: is the model wrong, or the label?",
    "next.score": "Rank new rows, whose labels are not known yet: falcon-discover score, or "
    "report(path, X) in Python.",
    "next.audit": "Audit again when fresh labelled rows arrive.",
    "next.lower": "Lower the threshold (--tau) if errors with less confidence matter too.",
    "next.check": "Check the list below from the top and mark each row.",
    "next.feedback": "Download your marks and run falcon-discover feedback FOLDER marks.csv to see "
    "whether the risks hold.",
    "next.again": "Audit again once the labels are known.",
    # The review list.
    "review.rehearsal": "A rehearsal: the labels of these rows are known, so you can see what a "
    "review would have found.",
    "review.listed": "The {listed} riskiest of {audited} predictions{budget}, riskiest first.",
    "review.costs": "The {listed} predictions of {audited} with the highest expected cost"
    "{budget}, highest first.",
    "review.found": "{errors} of them are confident errors, {ratio}; of all confident predictions, "
    "{usual}.",
    "review.ends": "Your budget of {asked_for} has room for {asked} rows. The list ends at "
    "{listed}: no other row is confident enough to be a confident error.",
    "review.empty": "No prediction is confident, so there is nothing to list.",
    "review.shown": "This page holds the first {shown} of them, so that it stays small; the whole "
    "list is in review.csv and review.parquet beside it.",
    # Regions.
    "regions.never": "There is no confident prediction, so there is no region to find.",
    "regions.none": "No region has more confident errors than the model's confidence implies.",
    "regions.unconfirmed": "No region is confirmed to have more confident errors than the model's "
    "confidence implies.",
    "regions.more than predicted": "In {n} there are more confident errors than the model's "
    "confidence implies.",
    "regions.frequent, as predicted": "In {n} confident errors are frequent, about as many as the "
    "model's confidence there implies.",
    "regions.frequent": "In {n} confident errors are frequent.",
    "regions.no more than predicted": "In {n} there are no more confident errors than the model's "
    "confidence implies.",
    "regions.not frequent": "In {n} confident errors are not frequent.",
    "regions.held": "{n} held: confident errors are more frequent there on these rows too (tested "
    "at 5% for all regions together).",
    "regions.did not hold": "{n} did not hold: the excess is clearly smaller here than in the fit.",
    "regions.cannot tell": "For {n} these rows cannot tell.",
    "regions.again": "The regions were confirmed in the fit; here they are counted and tested "
    "again.",
    "regions.confirmed": "Each was found on one half of the labelled rows and confirmed on the "
    "other.",
    "regions.elsewhere": "The figures are from rows it was not found on.",
    "regions.independent": "The tests treat rows as independent; exact copies count once.",
    "regions.grouped": "No group is in both halves, and the tests treat groups as independent.",
    "regions.mark": "The dashed line is the rate of all confident predictions.",
    "regions.doubtful": "Not confirmed on the other half of the rows, so do not act on: {names}.",
    "regions.empty": "no confident prediction here",
    "regions.figures": "{events} of {eligible} confident predictions wrong: {rate} (95% interval "
    "{interval})",
    "regions.lift": ", {lift} times the usual rate",
    "regions.expected": "; about {expected} expected from the model's confidence",
    "regions.bar": "{rate} wrong, 95% interval {low} to {high}",
    "conflict.words": "Each cell shows how much more often confident predictions are wrong, in "
    "percentage points, when {evidence} is at most the value on one side and {instability} at "
    "least the value on the other; below it, errors and cases. Bold cells stand out from "
    "predictions of the same confidence, for all cells together with 95% confidence.",
    "conflict.best": "Framed, the cell that stands out most: {events} of {rows} wrong, about "
    "{expected} expected (p = {p}).",
    "conflict.unclear": "No cell clearly stands out; framed, the one that comes closest: {events} "
    "of {rows} wrong, about {expected} expected (p = {p}).",
    "conflict.left out": "There is no map of weak evidence and unstable scores. {reason}",
    # Which class is mistaken for which.
    "sides.none": "There is no confident error in any class.",
    "sides.wrong": "{events} of {eligible} rows confidently predicted as {predicted} were in fact "
    "{actual}: {rate} of all rows labelled {actual}.",
    "sides.right": "None of the {eligible} rows confidently predicted as {predicted} was in fact "
    "{actual}.",
    "sides.many": "{n} of {classes} predicted classes have confident errors. The highest rate is "
    "among rows confidently predicted as {predicted}: {events} of {eligible} ({rate}).",
    "mistaken.none": "No class is confidently mistaken for another.",
    "mistaken.most": "Most often {actual} is mistaken for {predicted}: {events} of {total} "
    "confident errors ({of_events}), {of_class} of the {class_rows} rows of {actual}.",
    "mistaken.first": "The table lists the {shown} most frequent of {pairs} pairs.",
    # How much review is enough.
    "budget.capture": "Reviewing {found}. A random review finds a share equal to the budget.",
    "budget.capture.one": "the riskiest {budget} finds {captured} of {events}",
    "budget.missed": "After a review of the riskiest {budget}, {rate} of the other rows are "
    "confident errors. The upper line holds for all budgets at once with 95% confidence, "
    "{assumed}, so you may pick a budget from it. Where it rises at the right end, few "
    "rows are left to learn from; that does not mean that more review is worse.",
    # Confidence and accuracy.
    "calibrated.model": "The model is right in {accuracy} of all cases (AUROC {auroc}, calibration "
    "error {ece}).",
    "calibrated.confident": "Where it is at least {level} sure, its confidence implies about "
    "{expected} errors; there were {errors}.",
    "calibrated.reliability": "Where it is most confident ({low} to {high}), the model is {sure} "
    "sure on average and right in {right} ({interval}) of {rows} cases.",
    "calibrated.confidence": "{rows} of {audited} predictions are at least {level} sure; only "
    "these can be confident errors.",
    "recalibration.words": "Among the {confident} most confident predictions, {errors} are wrong "
    "before recalibration and {errors_after} after it, if it uses all signals (discrepancy).",
    "recalibration.better": "Recalibration would make the model's confidence more accurate: log "
    "loss falls from {before} to {after}, the calibration error changes from {ece} to {ece_after}.",
    "recalibration.little": "Recalibration would change little: log loss is {before} before and "
    "{after} after.",
    "recalibration.worse": "Recalibration would not help: log loss rises from {before} to {after}.",
    "recalibration.coverage": "“Errors at equal coverage” compares methods fairly: it counts the "
    "errors among as many of the most confident predictions as are confident before.",
    "recalibration.caution": "A cautious method has fewer confident errors because it is confident "
    "less often, at the price of worse calibration.",
    # Signals.
    "signals.few": "There are too few confident errors to compare signals.",
    "signals.words": "How well each signal alone ranks confident errors first: 1 is perfect, 0.5 "
    "is chance. The strongest here: {meaning} ({auroc}, 95% interval {interval}).",
    "contributions.words": "How much the ranking loses without each family of signals. If an "
    "interval includes 0, the other families make up for it. All intervals hold together.",
    # What is left out, and why.
    "labels.first": "Check the {n} below first.",
    "labels.one": "Check the one below.",
    "labels.limit": "A label is doubtful where errors of the model are rare. The share of wrong "
    "labels is estimated, and so is each probability. No row was changed or removed.",
    "left_out.labels": "Not known without labels.",
    "left_out.model": "It needs the stability signals, and there was no model to compute them "
    "with.",
    "left_out.rows": "It needs the stability signals, and the audit was saved without the rows "
    "they are computed from.",
    "left_out.regions": "The audit was saved without the rows that regions are found on.",
    "left_out.errors": "There is no confident error to map.",
    "left_out.contributions": "What each family of signals contributes was not computed, to save "
    "time (one refit per family). Ask for it with --contributions, or contributions=True in "
    "Python.",
    # Limits.
    "limits.unseen": "The figures hold only if the model was not trained on these rows. On its own "
    "training rows a model's errors are hidden and everything here looks better than it is. No "
    "tool can tell from the rows alone.",
    "limits.few": "There are only {errors} confident errors. Shares of so few say little: read the "
    "intervals.",
    "limits.groups": "The figures apply to groups like these, drawn independently; new rows of the "
    "same groups may differ.",
    "limits.rows": "The figures apply to rows like these, drawn independently. Copies, or many "
    "rows of one person or device, tell less than their number suggests.",
    "limits.drift": "When the population, the features or the meaning of the label change, rates "
    "and bounds no longer hold: audit again on fresh rows.",
    "limits.labels": "A wrong label counts as an error of the model. Some of the errors that a "
    "review finds usually turn out to be wrong labels.",
    "limits.regions": "A region shows where errors are frequent, not what causes them, and not "
    "that a group is treated unfairly. It contains correct predictions too.",
    "limits.threshold": "Errors below the confidence threshold are not counted, however many there "
    "are.",
    "limits.intervals": "Each interval has 95% coverage on its own; about one in twenty will miss.",
    "limits.risk": "Risk says what to check first. It is not grounds for overturning a decision "
    "without review.",
    "tile.elsewhere": "; in seven public data sets, {interval}",
    # Facts about what was audited.
    "fact.scores": "not given, only its scores",
    "fact.trained": "trained for this audit",
    "mode.backbone": "a model trained for this audit",
    "mode.frozen model": "a fitted model",
    "mode.predictions only": "predictions only",
    "score.predicted": "probability of the predicted class",
    "score.of": "probability of {label}",
    "score.turned": "probability of {label} (p in the review list: of {positive})",
    "footer": "Made by falcon-discover {version} on {created}. This file needs no network and "
    "sends nothing anywhere; marks stay in this browser until you download them.",
}


class Said(str):
    """A sentence that knows its key."""

    key: str

    def __new__(cls, key: str, words: str) -> Self:
        """Return the words, with their key."""
        said = super().__new__(cls, words)
        said.key = key
        return said


def say(key: str, **figures: Any) -> Said:
    """Return a sentence with its figures.

    Examples
    --------
    >>> say("score.of", label="yes"), say("next.again").key
    ('probability of yes', 'next.again')
    """
    return Said(key, SENTENCES[key].format(**figures))
