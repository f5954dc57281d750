"""FALCON-Discover: find the confident predictions that should not be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover import datasets, metrics
    from falcon_discover.discovery import Discovery
    from falcon_discover.estimator import FalconDiscover
    from falcon_discover.loading import load
    from falcon_discover.predictions import discover

__version__ = "0.2.0.dev0"
__all__ = [
    "PAPER",
    "DataWarning",
    "Discovery",
    "FalconDiscover",
    "InputError",
    "datasets",
    "discover",
    "load",
    "metrics",
]

# Loaded when first asked for: tables are rebuilt from stored fields without scikit-learn, and the
# command line is there at once.
_LAZY = {
    "Discovery": "falcon_discover.discovery",
    "FalconDiscover": "falcon_discover.estimator",
    "discover": "falcon_discover.predictions",
    "load": "falcon_discover.loading",
    "datasets": "falcon_discover.datasets",
    "metrics": "falcon_discover.metrics",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
