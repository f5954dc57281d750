"""Saved audits: one file each, without pickle."""
