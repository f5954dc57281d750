"""What a user sees when the input is wrong, and what they are told when it is merely odd."""

from __future__ import annotations


class InputError(ValueError):
    """The input cannot be used; the message says which part and what to do."""


class DataWarning(UserWarning):
    """The input can be used, but a part of it does not count or may mislead."""
