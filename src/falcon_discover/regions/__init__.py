"""Regions: where confident errors gather."""

from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.regions.rules import Rule, find_rules

__all__ = ["Clusters", "RegionSet", "Rule", "find_rules"]
