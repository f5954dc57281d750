"""Data sets of the study, and tables with a planted region."""

from falcon_discover.datasets.loaders import cache_folder, entry, fetch, find, load, names, verify
from falcon_discover.datasets.planted import Planted, PlantedModel, make_planted
from falcon_discover.datasets.registry import REGISTRY, DataSet, content_digest

__all__ = [
    "REGISTRY", "DataSet", "Planted", "PlantedModel", "cache_folder", "content_digest", "entry",
    "fetch", "find", "load", "make_planted", "names", "verify",
]  # fmt: skip
