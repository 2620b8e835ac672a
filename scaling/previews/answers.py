"""The planner's answer where it may fail: an act is then shown without it, and a stop is not held up."""

import logging

from scaling.operations import OperationError
from scaling.previews.changes import Change
from scaling.previews.cluster import preview
from scaling.previews.effects import Preview

logger = logging.getLogger(__name__)

NO_ANSWER = "The planner gave no answer, so that nobody can say what would be bought or released."
NOT_DONE = f"{NO_ANSWER} Nothing was done."


def asked(change: Change) -> Preview | None:
    """What the planner says of it now; None where it fails, which the log tells."""
    try:
        return preview(change)
    except OperationError:
        raise
    except Exception:
        logger.exception("the planner gave no answer to an act")
        return None
