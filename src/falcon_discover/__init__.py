"""FALCON-Discover: find the confident predictions of a classifier that you should not trust."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.runtime import moved
from falcon_discover.runtime.versions import __version__
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover import datasets, metrics, rankers
    from falcon_discover.audit.estimator import FalconDiscover
    from falcon_discover.audit.finding import Finding
    from falcon_discover.audit.predictions import discover
    from falcon_discover.storage.load import load

__all__ = [
    "PAPER",
    "DataWarning",
    "FalconDiscover",
    "Finding",
    "InputError",
    "__version__",
    "datasets",
    "discover",
    "load",
    "metrics",
    "rankers",
]

# Loaded when first asked for: the package, and the help of the command line, are there at once.
_LAZY = {
    "FalconDiscover": "falcon_discover.audit.estimator",
    "Finding": "falcon_discover.audit.finding",
    "discover": "falcon_discover.audit.predictions",
    "load": "falcon_discover.storage.load",
    "datasets": "falcon_discover.datasets",
    "metrics": "falcon_discover.metrics",
    "rankers": "falcon_discover.rankers",
}


moved.keep_old_names()


def __getattr__(name: str) -> Any:
    if name == "Discovery":
        moved.deprecated("falcon_discover.Discovery", "falcon_discover.Finding")
        name = "Finding"
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
