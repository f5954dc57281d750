"""Scoring files of any size with a saved audit, on one machine or on a Dask cluster."""
