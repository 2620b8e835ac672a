"""One bounded text from whatever a platform gave as its error: text, bytes, a parsed answer, an exception."""

from collections.abc import Iterator, Mapping
from itertools import islice

_HALF = 4_000
_MAX_PARTS = 200
_MAX_DEPTH = 8
_MAX_VISITS = 2_000


def failure_text(error: object) -> str:
    """One bounded text (at most 8,000 characters: the beginning and the end) of whatever a platform gave."""
    parts = [_shortened(part).strip() for part in islice(_parts(error, 0, iter(range(_MAX_VISITS))), _MAX_PARTS)]
    return _shortened("\n".join(dict.fromkeys(filter(None, parts))))


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} ... {text[-_HALF:]}"


def _parts(error: object, depth: int, visits: Iterator[int]) -> Iterator[str]:
    """The texts inside an error, outermost first; depth and visits bound nesting, loops and empty crowds."""
    if error is None or depth > _MAX_DEPTH or next(visits, None) is None:
        return
    if isinstance(error, str):
        yield error
    elif isinstance(error, bytes | bytearray | memoryview):
        yield bytes(error[: 4 * _HALF]).decode("utf-8", "replace")
    elif isinstance(error, BaseException):
        yield from _exception_parts(error, depth, visits)
    elif isinstance(error, Mapping):
        for key, value in islice(error.items(), _MAX_PARTS):
            for part in _parts(value, depth + 1, visits):
                yield f"{key}: {part}"
    elif isinstance(error, list | tuple | set | frozenset):
        for item in islice(error, _MAX_PARTS):
            yield from _parts(item, depth + 1, visits)
    else:
        yield _safe_str(error)


def _exception_parts(error: BaseException, depth: int, visits: Iterator[int]) -> Iterator[str]:
    yield f"{type(error).__name__}: {_safe_str(error)}"
    for argument in error.args[:20]:
        if not isinstance(argument, BaseException):
            yield from _parts(argument, depth + 1, visits)
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions[:20]:
            yield from _parts(inner, depth + 1, visits)
    if error.__cause__ is not None:
        yield from _parts(error.__cause__, depth + 1, visits)
    elif error.__context__ is not None and not error.__suppress_context__:
        yield from _parts(error.__context__, depth + 1, visits)


def _safe_str(value: object) -> str:
    """An exception's own __str__ may fail; a failed create must still be classified."""
    try:
        return str(value)
    except Exception:
        return type(value).__name__
