"""What statements with a level of confidence have in common."""

from __future__ import annotations

from falcon_discover.runtime import notices
from falcon_discover.runtime.display import Result


class Stated(Result):
    """A statement that holds with some confidence."""

    confidence_level: float

    @property
    def confidence(self) -> float:
        """The old name of `confidence_level`."""
        notices.deprecated("confidence", "confidence_level")
        return self.confidence_level
