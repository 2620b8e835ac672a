"""The planner says PAUSED of every group while all is halted: what people read beside that word.

The states and the stored reasons stay as the planner fixes them; these words say which pause it is.
"""

HALT_WORDS = "halted: no slice is bought"
_PAUSED = "PAUSED"


def beside(text: str, *, halted: bool) -> str:
    """The text with the halt named at its first PAUSED, where all is halted."""
    return text.replace(_PAUSED, f"{_PAUSED} ({HALT_WORDS})", 1) if halted else text
