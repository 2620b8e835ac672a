"""Keeps the garbage collector out of a tick."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collected_afterwards() -> Iterator[None]:
    """No search for reference cycles within the block; the first one after it finds what the block left.

    A tick of thousands of deployments makes hundreds of thousands of records, none of them a cycle, and searching them
    over and over takes a sixth of its time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
