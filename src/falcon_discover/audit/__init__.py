"""The audit: fitted, and what it finds on rows."""

from typing import Any

from falcon_discover.runtime.moved import moved_attribute


def __getattr__(name: str) -> Any:
    return moved_attribute(__name__, name)
