"""FALCON-Discover: find the confident predictions that should not be trusted."""

from falcon_discover import datasets, metrics
from falcon_discover.discover import FalconDiscover, discover
from falcon_discover.discovery import Discovery
from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.settings import PAPER

__version__ = "0.1.0"
__all__ = [
    "PAPER",
    "DataWarning",
    "Discovery",
    "FalconDiscover",
    "InputError",
    "datasets",
    "discover",
    "metrics",
]
