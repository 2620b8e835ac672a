"""Reads a JSON body: limited in size and depth, strict about what JSON leaves open."""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from django.http import HttpRequest
from django.http.request import RawPostDataException

from iris_web.api.problems import Problem, too_large
from scaling.operations import Fault

MAX_DEPTH = 12
_TOO_DEEP = f"expected at most {MAX_DEPTH} levels of nesting (lists and objects inside each other), got more"
_ESCAPES = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def read_json(request: HttpRequest, limit_bytes: int, absent: Any = None) -> Any:
    """The value in the body, `absent` where there is no body; raises Problem 400, 413 or 415."""
    raw = _raw(request, limit_bytes)
    if not raw.strip():
        return absent
    media = request.content_type or ""
    if media != "application/json":
        raise Problem(415, f'Content-Type: expected application/json, got "{media[:80]}"')
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.lower() not in ("utf-8", "utf8"):
        raise Problem(415, f'Content-Type: expected the charset utf-8, got "{charset[:40]}"')
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem(415, "Content-Encoding: expected none; compressed bodies are not read")
    return parse(raw)


def _raw(request: HttpRequest, limit_bytes: int) -> bytes:
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if not declared.isdigit() or int(declared) > limit_bytes:
        raise too_large(limit_bytes, int(declared) if declared.isdigit() else 0)
    try:
        raw = request.read(limit_bytes + 1)
    except (RawPostDataException, OSError):
        raise Problem(400, "the body could not be read to its end") from None
    if len(raw) > limit_bytes:
        raise too_large(limit_bytes)
    return raw


def parse(raw: bytes) -> Any:
    """The JSON value of `raw`; raises Problem 400 with the line and column of what is wrong."""
    try:
        text = raw.decode("utf-8-sig")
        value = json.loads(
            text, parse_constant=_refused, parse_int=_whole, parse_float=_finite, object_pairs_hook=_object
        )
    except UnicodeDecodeError as wrong:
        raise _unreadable(f"expected UTF-8, got another byte at {wrong.start:,}") from None
    except json.JSONDecodeError as wrong:
        raise _unreadable(f"expected JSON; {wrong.msg} at line {wrong.lineno} column {wrong.colno}") from None
    except RecursionError:
        raise _unreadable(_TOO_DEEP) from None
    except ValueError as wrong:
        raise _unreadable(str(wrong)) from None
    _check_depth(value)
    if _ESCAPES.search(text):
        _check_text(value)
    return value


def _unreadable(message: str) -> Problem:
    return Problem(400, f"body: {message}", [Fault("", message)])


def _refused(number: str) -> NoReturn:
    raise ValueError(f"expected a finite number of at most 18 digits, got {number[:30]}{'...' if number[30:] else ''}")


def _whole(digits: str) -> int:
    return int(digits) if len(digits) <= 19 else _refused(digits)


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) and len(number) < 100 else _refused(number)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name given twice is a mistake that JSON readers settle in different ways, so it is refused."""
    read = dict(pairs)
    if len(read) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f'expected each name once in an object, got "{twice[:60]}" twice')
    return read


def _check_depth(value: Any) -> None:
    """Level by level, without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            item
            for container in level
            if isinstance(container, dict | list)
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return
    raise _unreadable(_TOO_DEEP)


def _check_text(value: Any) -> None:
    """No text may hold NUL or half a surrogate pair: the database cannot store it."""
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _unreadable("expected text without NUL or half surrogate pairs")
