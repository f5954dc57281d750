"""Objects as skops files: only types that are known, or that the caller trusts, are made."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from falcon_discover.exceptions import InputError

# Beyond what skops trusts by itself: our own classes, which are filled with values and run
# nothing, and parts of scikit-learn's models that hold arrays and numbers only.
KNOWN_TYPES = (
    "falcon_discover.opinions.Opinions",
    "falcon_discover.persistence.native.NativeModel",
    "falcon_discover.rankers.blend.Blend",
    "falcon_discover.rankers.blend.Calibration",
    "falcon_discover.rankers.blend.OwnDoubt",
    "falcon_discover.rankers.fixed.ConfidenceRanker",
    "falcon_discover.rankers.fixed.DiscrepancyRanker",
    "falcon_discover.rankers.fixed.RandomRanker",
    "falcon_discover.rankers.fixed.StabilityRanker",
    "falcon_discover.rankers.gated.GatedConfidence",
    "falcon_discover.rankers.gated.GatedRisk",
    "falcon_discover.rankers.gated.GatedSignal",
    "falcon_discover.rankers.gated.GatedStability",
    "falcon_discover.rankers.learned.LearnedWitness",
    "falcon_discover.regions.conditions.IsMissing",
    "falcon_discover.regions.conditions.OneOf",
    "falcon_discover.regions.conditions.Range",
    "falcon_discover.regions.rules.Figures",
    "falcon_discover.regions.rules.Rule",
    "falcon_discover.signals.support.Support",
    "falcon_discover.view.TransformedView",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",
)
NOT_INSTALLED = (
    "{what} needs a package that is not installed: pip install 'falcon-discover[skops]'."
)


def dumped(content: Any) -> bytes:
    """Return the bytes of a skops file with the given content."""
    io = _skops("saving an audit")
    try:
        data = io.dumps(content)
        strange = set(io.get_untrusted_types(data=data)) - set(KNOWN_TYPES)
        if strange:
            # A function defined on the spot is written by name, and only not found on reading.
            io.loads(data, trusted=sorted({*strange, *KNOWN_TYPES}))
        return data
    except Exception as error:  # skops leaves the errors of the objects as they are
        raise InputError(
            f"the audit cannot be saved, a part of its model or settings cannot be stored "
            f"({type(error).__name__}: {error}). Functions that were defined on the spot, such as "
            "lambdas, cannot: put them into a module."
        ) from error


def loaded(data: bytes, trusted: Collection[str], *, name: str, how: str) -> Any:
    """Return the content of a skops file, if all its types are known or trusted.

    Parameters
    ----------
    data : the file's bytes
    trusted : types that the caller vouches for
    name : what to call the file in an error
    how : how the caller can name a type as trusted
    """
    io = _skops("loading it")
    try:
        unknown = set(io.get_untrusted_types(data=data)) - {*trusted, *KNOWN_TYPES}
    except Exception as error:  # what is no skops file fails in many ways
        raise InputError(f"{name} is no skops file ({type(error).__name__}: {error}).") from error
    if unknown:
        raise InputError(
            f"{name} holds types that are not known to be safe: {', '.join(sorted(unknown))}. "
            f"If you trust its author, name each with {how}."
        )
    try:
        return io.loads(data, trusted=sorted({*trusted, *KNOWN_TYPES}))
    except Exception as error:  # a forged file may hold anything
        raise InputError(
            f"{name} cannot be read back ({type(error).__name__}: {error})."
        ) from error


def _skops(what: str) -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise InputError(NOT_INSTALLED.format(what=what)) from error
    return skops.io
