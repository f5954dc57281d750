"""The method once more, as plainly as possible: loops, float64, nothing from the package.

Coordinates are rounded to float32 and distances compared at float32 precision, because that is
how the package defines them; everything else is double precision.
"""

from __future__ import annotations

import math

import numpy as np

TEXT = "text"
NUMBER = "number"


def column_kind(values):
    return TEXT if any(isinstance(v, str) for v in values) else NUMBER


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


class View:
    """Median + standardise, most frequent + one-hot, learned from rows (lists of values)."""

    def __init__(self, rows):
        self.columns = []
        for j in range(len(rows[0])):
            values = [row[j] for row in rows]
            present = [v for v in values if not is_missing(v)]
            if column_kind(values) == TEXT:
                categories = sorted(set(present))
                fill = max(categories, key=lambda c: (present.count(c), [-ord(x) for x in c]))
                self.columns.append((TEXT, fill, categories, None))
            else:
                fill = sorted_median(present) if present else 0.0
                filled = [fill if is_missing(v) else float(v) for v in values]
                mean = sum(filled) / len(filled)
                variance = sum((v - mean) ** 2 for v in filled) / len(filled)
                scale = math.sqrt(variance)
                if variance <= 10 * np.finfo(float).eps * len(filled) * abs(mean) ** 2 + 1e-30:
                    scale = 1.0
                self.columns.append((NUMBER, fill, mean, scale))

    def row(self, row):
        numbers, texts = [], []
        for value, (kind, fill, a, b) in zip(row, self.columns, strict=True):
            if is_missing(value):
                value = fill
            if kind == NUMBER:
                numbers.append((float(value) - a) / b)
            else:
                texts.extend(1.0 if value == category else 0.0 for category in a)
        return [float(np.float32(v)) for v in numbers + texts]

    def rows(self, rows):
        return [self.row(row) for row in rows]


def sorted_median(values):
    values = sorted(float(v) for v in values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def nearest(row, reference, k):
    """Return positions of the k nearest; equal float32 distances in reference order."""

    def distance(other):
        return np.float32(math.sqrt(sum((a - b) ** 2 for a, b in zip(row, other, strict=True))))

    return sorted(range(len(reference)), key=lambda i: (distance(reference[i]), i))[:k]


def support_of(rows, reference, epsilon=1e-6):
    width, n = len(reference[0]), len(reference)
    mean = [sum(r[j] for r in reference) / n for j in range(width)]
    variance = [sum((r[j] - mean[j]) ** 2 for r in reference) / n for j in range(width)]

    def distance(r):
        return sum((r[j] - mean[j]) ** 2 / (variance[j] + epsilon) for j in range(width)) / width

    own = [distance(r) for r in reference]
    low, high = quantile(own, 0.50), quantile(own, 0.95)
    if high <= low:
        return [1.0 if distance(r) <= low else 0.0 for r in rows]
    return [1 - min(max((distance(r) - low) / (high - low), 0.0), 1.0) for r in rows]


def state(rows, p, reference, labels, reference_p, predict, *, k=25, m=6, lambdas=(0.1, 0.2, 0.3)):
    """Return one dict of the ten signals per row; `rows` and `reference` are coordinates.

    `predict` takes one list of coordinates to a score.
    """
    support = support_of(rows, reference)
    out = []
    for i, row in enumerate(rows):
        near = nearest(row, reference, max(k, m))
        ones = sum(labels[j] for j in near[:k])
        used = len(near[:k])
        mixes = [
            [(1 - lam) * a + lam * b for a, b in zip(row, reference[j], strict=True)]
            for j in near[:m]
            for lam in lambdas
        ]
        moved = [predict(mix) for mix in mixes]
        logits = [math.log(c / (1 - c)) for c in (min(max(q, 1e-6), 1 - 1e-6) for q in moved)]
        centre = sum(logits) / len(logits)
        decision = p[i] >= 0.5
        out.append(
            {
                "confidence": max(p[i], 1 - p[i]),
                "margin": abs(2 * p[i] - 1),
                "entropy": -sum(q * math.log(q) for q in (p[i], 1 - p[i]) if q > 0),
                "support": support[i],
                "label_agreement": max(ones, used - ones) / used,
                "prediction_agreement": sum((reference_p[j] >= 0.5) == decision for j in near[:k])
                / used,
                "mean_drift": sum(abs(q - p[i]) for q in moved) / len(moved),
                "max_drift": max(abs(q - p[i]) for q in moved),
                "label_consistency": sum((q >= 0.5) == decision for q in moved) / len(moved),
                "logit_variance": sum((v - centre) ** 2 for v in logits) / len(logits),
            }
        )
    return out


def s_stab(psi):
    return 0.7 * psi["mean_drift"] + 0.3 * (1 - psi["label_consistency"])


def s_disc(psi):
    return (
        1.30 * psi["confidence"]
        + 1.00 * psi["mean_drift"]
        + 0.80 * psi["max_drift"]
        + 1.00 * (1 - psi["label_consistency"])
        + 0.80 * (1 - psi["support"])
        + 0.70 * (1 - psi["label_agreement"])
    )


def witness(train, events, rows, *, eta=2.0, c=1.0):
    """Return event probabilities of a weighted L2 logistic regression, by Newton's method."""
    train, rows = np.asarray(train, float), np.asarray(rows, float)
    mean = train.mean(axis=0)
    scale = train.std(axis=0)
    scale[scale < 1e-12] = 1.0
    design = np.column_stack([(train - mean) / scale, np.ones(len(train))])
    z = np.asarray(events, float)
    weight = 1 + eta * z
    penalty = np.append(np.full(train.shape[1], 1 / c), 0.0)
    beta = np.zeros(design.shape[1])
    for _ in range(100):
        q = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (weight * (q - z)) + penalty * beta
        hessian = (design * (weight * q * (1 - q))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < 1e-13:
            break
    return 1 / (1 + np.exp(-np.column_stack([(rows - mean) / scale, np.ones(len(rows))]) @ beta))


def auroc(events, scores):
    pairs = [
        (a, b)
        for a, e in zip(scores, events, strict=True)
        if e
        for b, f in zip(scores, events, strict=True)
        if not f
    ]
    if not pairs:
        return math.nan
    return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)
