"""Regions: where confident errors gather."""
