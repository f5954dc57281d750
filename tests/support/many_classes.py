"""The signals of any number of classes once more: loops, float64, nothing from the package."""

from __future__ import annotations

import math

import numpy as np

from support import oracle
from support.tables import awkward_table

TRUST_RANKS = (1, 5, 25)


def many_classes(n, seed, n_classes):
    """A small table with ties, duplicates, gaps and categories, and labels of several classes."""
    X, _ = awkward_table(n, seed)
    rng = np.random.default_rng(seed + 1000)
    score = X["steps"] + X["size"] + 2.0 * (X["kind"] == "a") + rng.normal(0, 0.8, n)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score.to_numpy())


def decision(p, threshold=0.5):
    """The class that is decided, given the probability of each."""
    if len(p) == 2:
        return int(p[1] >= threshold)
    best = 0
    for c in range(1, len(p)):
        if p[c] > p[best]:
            best = c
    return best


def log_odds(q, clip=1e-6):
    q = min(max(q, clip), 1 - clip)
    return math.log(q / (1 - q))


def certainty(p, d):
    largest, second = sorted(p, reverse=True)[:2]
    entropy = -sum(q * math.log(q) for q in p if q > 0)
    return {
        "confidence": p[d],
        "margin": largest - second,
        "entropy": entropy / math.log(len(p)) * math.log(2),
    }


def neighbourhood(row, d, reference, labels, n_classes, k, *, by_class=False):
    """What depends on which reference rows are near, and how they are labelled.

    Of equally near rows the first of the file is nearer, or the first of the classes.
    """
    far = [
        np.float32(math.sqrt(sum((a - b) ** 2 for a, b in zip(row, other, strict=True))))
        for other in reference
    ]
    order = [(far[j], labels[j] if by_class else 0, j) for j in range(len(reference))]
    near = [j for _, _, j in sorted(order)[:k]]
    counts = [sum(labels[j] == c for j in near) for c in range(n_classes)]
    found = {
        "neighbours": len(near),
        "label_agreement": max(counts) / len(near),
        "labelled_as_predicted": counts[d] / len(near),
        "nearest_distance": far[near[0]],
        "neighbour_distance": math.log(far[near[-1]] + 1e-6),
    }
    own = sorted(float(x) for x, label in zip(far, labels, strict=True) if label == d)
    other = sorted(float(x) for x, label in zip(far, labels, strict=True) if label != d)
    for rank in TRUST_RANKS:
        place = min(rank, k) - 1
        here, there = (
            math.log((side[place] if place < len(side) else 1e12) + 1e-6) for side in (own, other)
        )
        found[f"log_trust_{rank}"] = min(max(there - here, -4.0), 4.0)
    return found, near


def stability(p, d, moved, threshold=0.5):
    own = [q[d] for q in moved]
    logits = [log_odds(q) for q in own]
    centre = sum(logits) / len(logits)
    moves = [z - log_odds(p[d]) for z in logits]
    return {
        "mean_drift": sum(abs(q - p[d]) for q in own) / len(own),
        "max_drift": max(abs(q - p[d]) for q in own),
        "label_consistency": sum(decision(q, threshold) == d for q in moved) / len(moved),
        "logit_variance": sum((z - centre) ** 2 for z in logits) / len(logits),
        "signed_drift": sum(moves) / len(moves),
        "worst_drift": min(moves),
    }


def opinions(d, said):
    """`said` has the probabilities of each class by each opinion."""
    views = {f"opinion_{name}": log_odds(p[d], 1e-3) for name, p in said.items()}
    values = list(views.values())
    mean = sum(values) / len(values)
    return views | {
        "opinion_mean": mean,
        "opinion_spread": math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)),
        "opinion_worst": min(values),
    }


def state(
    rows, p, reference, labels, reference_p, predict,
    *, n_classes, k=25, m=6, lambdas=(0.1, 0.2, 0.3), threshold=0.5,
):  # fmt: skip
    """Return one dict of signals per row; `predict` takes coordinates to a list, or is None."""
    support = oracle.support_of(rows, reference)
    decided = [decision(q, threshold) for q in reference_p]
    out = []
    for i, row in enumerate(rows):
        d = decision(p[i], threshold)
        around, near = neighbourhood(row, d, reference, labels, n_classes, max(k, m))
        found = certainty(p[i], d) | {"support": support[i]} | around
        found["prediction_agreement"] = sum(decided[j] == d for j in near) / len(near)
        if predict is not None:
            moved = [
                predict([(1 - lam) * a + lam * b for a, b in zip(row, reference[j], strict=True)])
                for j in near[:m]
                for lam in lambdas
            ]
            found |= stability(p[i], d, moved, threshold)
        out.append(found)
    return out
