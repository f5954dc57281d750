"""Nearest reference rows: the index and its back ends."""
