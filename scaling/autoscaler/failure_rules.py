"""Reads a cloud's refusal: `classify_create_failure` and, with the details, `diagnose_failure`.

The rules are the table in `failure_table`; here the text is brought into plain words first, so that a code, a sentence
and an exception of the same meaning look alike. Unknown text is transient: trying again costs little, a wrong
"permanent" costs a group.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scaling.autoscaler.failure_table import RULES, FailureClass, Rule

__all__ = ["Failure", "FailureClass", "classify_create_failure", "diagnose_failure", "failure_text", "plain_words"]

_HALF = 6_000
_MAX_PARTS = 200
_GAP_WORDS = 8


@dataclass(frozen=True, slots=True)
class Failure:
    """What one refusal says: its class, and the details that decide what happens next.

    `limit` is the limit the text states (None: not stated), `metric` the quota metric it names, `meaning` the row of
    the table that decided ("" for unknown text), `text` the words as they came, bounded.
    """

    failure_class: FailureClass
    rate_limited: bool
    limit: float | None
    metric: str | None
    already_exists: bool
    text: str
    meaning: str = ""


def classify_create_failure(error: object) -> FailureClass:
    """The class of a failed create, from the platform's text, an exception, or a parsed answer."""
    rule = _matching_rule(plain_words(failure_text(error)))
    return rule.failure_class if rule else FailureClass.TRANSIENT


def diagnose_failure(error: object) -> Failure:
    """Class and details of a failed create; limit and metric only where the class is quota."""
    text = failure_text(error)
    rule = _matching_rule(plain_words(text))
    if rule is None:
        return Failure(FailureClass.TRANSIENT, False, None, None, False, text)
    is_quota = rule.failure_class is FailureClass.QUOTA
    return Failure(
        failure_class=rule.failure_class,
        rate_limited=rule.rate_limited,
        limit=_stated_limit(text) if is_quota else None,
        metric=_named_metric(text) if is_quota else None,
        already_exists=rule.already_exists,
        text=text,
        meaning=rule.meaning,
    )


# -- one text from anything


def failure_text(error: object) -> str:
    """One bounded text (at most 12,000 characters: the beginning and the end) of whatever a platform gave."""
    parts: list[str] = []
    for part in _parts(error, 0):
        parts.append(part[: 2 * _HALF] if len(part) <= 2 * _HALF else f"{part[:_HALF]} ... {part[-_HALF:]}")
        if len(parts) >= _MAX_PARTS:
            break
    text = "\n".join(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} ... {text[-_HALF:]}"


def _parts(error: object, depth: int) -> Iterator[str]:
    """The texts inside an error, outermost first; depth bounds nesting and reference loops."""
    if error is None or depth > 8:
        return
    if isinstance(error, str):
        yield error
    elif isinstance(error, bytes | bytearray | memoryview):
        yield bytes(error[: 4 * _HALF]).decode("utf-8", "replace")
    elif isinstance(error, BaseException):
        yield from _exception_parts(error, depth)
    elif isinstance(error, Mapping):
        for key, value in list(error.items())[:_MAX_PARTS]:
            for part in _parts(value, depth + 1):
                yield f"{key}: {part}"
    elif isinstance(error, list | tuple | set | frozenset):
        for item in list(error)[:_MAX_PARTS]:
            yield from _parts(item, depth + 1)
    else:
        yield _safe_str(error)


def _exception_parts(error: BaseException, depth: int) -> Iterator[str]:
    yield f"{type(error).__name__}: {_safe_str(error)}"
    for argument in error.args[:20]:
        if not isinstance(argument, BaseException):
            yield from _parts(argument, depth + 1)
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions[:20]:
            yield from _parts(inner, depth + 1)
    if error.__cause__ is not None:
        yield from _parts(error.__cause__, depth + 1)
    elif error.__context__ is not None and not error.__suppress_context__:
        yield from _parts(error.__context__, depth + 1)


def _safe_str(value: object) -> str:
    """An exception's own __str__ may fail; a failed create must still be classified."""
    try:
        return str(value)
    except Exception:
        return type(value).__name__


# -- plain words

_ESCAPES = re.compile(r"\\[nrt]|\\u00[0-9a-fA-F]{2}|\\")
_ADDRESSES = re.compile(r"https?://\S{1,500}|arn:\S{1,500}|/?\b(?:projects|subscriptions|organizations)/\S{1,500}")
_NEGATION = re.compile(r"n['’]t\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)")
_NOT_A_WORD = re.compile(r"[^a-z0-9|]+")


def plain_words(text: str) -> str:
    """Lower-case words with single spaces and ` | ` between sentences, as the table's phrases expect them."""
    text = _ADDRESSES.sub(" ", _ESCAPES.sub(" ", text.replace("|", " ")))
    text = _CAMEL.sub(" ", _NEGATION.sub(" not", text))
    text = _SENTENCE_END.sub(" | ", text).lower().replace("cannot", "can not")
    return f" {' '.join(_NOT_A_WORD.sub(' ', text).split())} "


def _compiled(rule: Rule) -> re.Pattern[str]:
    return re.compile("|".join(_phrase_pattern(phrase) for phrase in rule.phrases))


def _phrase_pattern(phrase: str) -> str:
    """A phrase of the table as a regular expression; its gaps are bounded, so matching stays linear."""
    pattern = re.sub(r" \.\.\. ", rf" (?:[a-z0-9]+ ){{0,{_GAP_WORDS}}}?", phrase)
    pattern = re.sub(r"(?<=\w)\*", r"[a-z0-9]*", pattern)
    return rf"\b{pattern}\b"


_COMPILED = tuple((rule, _compiled(rule)) for rule in RULES)


def _matching_rule(words: str) -> Rule | None:
    return next((rule for rule, pattern in _COMPILED if pattern.search(words)), None)


# -- limit and metric

_NUMBER = r"['\"]?([0-9][0-9,]{0,15}(?:\.[0-9]+)?)"
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bcurrent limit:?\s*(?:of\s+)?{_NUMBER}",
        rf"(?<!new )\blimit:\s*{_NUMBER}",
        rf"\b(?:limit|quota|maximum) of {_NUMBER}",
        rf"\blimit '[^']{{1,120}}' is {_NUMBER}",
    )
)
_METRICS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bquota (?:limit |metric )?['\"]([^'\"]{1,120})['\"]",
        r"\bquota metrics? exceed quota limits: (\S{1,120})",
        r"\bservice limit ['\"]([^'\"]{1,120})['\"]",
        r"\bapproved (.{1,80}?) quota\b",
    )
)


def _stated_limit(text: str) -> float | None:
    for pattern in _LIMITS:
        if found := pattern.search(text):
            return float(found[1].replace(",", ""))
    return None


def _named_metric(text: str) -> str | None:
    return next((found[1].strip() for pattern in _METRICS if (found := pattern.search(text))), None)
