"""Rows and labels: how they come in, and the transformed view of them."""
