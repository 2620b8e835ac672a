"""The queue's task for every round of every loop."""

import logging
from datetime import UTC, datetime

from django.db import connection

from scaling import clock, feed
from scaling.characters import harmless
from scaling.loops import rounds
from scaling.loops.registry import loop_of
from scaling.loops.rounds import Begun

logger = logging.getLogger(__name__)

ERROR_CHARACTERS = 500


def run_loop(name: str, number: int, due: float) -> None:
    """Run round `number` of loop `name`, due at `due` (Unix seconds); nothing when it was run or given up before.

    What the body raises becomes the row's `last_error`. Only the queue's time-out goes on from here: the queue then
    replaces this worker process, whose state nobody knows.
    """
    round_ = rounds.begin(name, number, datetime.fromtimestamp(due, UTC), clock.now())
    if round_ is None:
        return
    try:
        spec, instance = loop_of(name)
        spec.load(instance)(clock.now())
    except Exception as error:
        _finish(round_, _words(error), error)
    except SystemExit as timeout:
        _finish(round_, _words(timeout), timeout)
        raise
    else:
        _finish(round_)


def _words(error: BaseException) -> str:
    text = harmless(" ".join(str(error).split()))
    return f"{type(error).__name__}: {text}"[:ERROR_CHARACTERS] if text else type(error).__name__


def _finish(round_: Begun, words: str = "", error: BaseException | None = None) -> None:
    # A body may leave behind a connection that the server has closed.
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    fields = {"loop": round_.name, "round": round_.number}
    if not rounds.finish(round_, clock.now(), words):
        logger.warning("round ended after it was given up", extra=fields)
        return
    if bool(words) == round_.failing:
        return
    state = "failing" if words else "ok"
    if error is not None:
        logger.error("loop fails", extra=fields, exc_info=error)
    else:
        logger.info("loop works again", extra=fields)
    feed.publish("loops", "state", {"loop": round_.name, "state": state, "error": words})
