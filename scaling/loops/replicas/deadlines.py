"""How long a round may still take."""

import time


class Deadline:
    """Counts down from the moment it is made."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds

    def left(self, reserve_seconds: float = 0.0) -> float:
        """Seconds left but for a reserve, never below zero."""
        return max(0.0, self._ends_at - reserve_seconds - time.monotonic())
