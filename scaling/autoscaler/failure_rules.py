"""Reads a cloud's refusal: `classify_create_failure` and, with the details, `diagnose_failure`.

The rules are the table in `failure_table`; here the text is brought into plain words first, so that a code, a sentence
and an exception of the same meaning look alike. Unknown text is transient: trying again costs little, a wrong
"permanent" costs a group.
"""

import re
from dataclasses import dataclass

from scaling.autoscaler.failure_details import named_metric, stated_limit
from scaling.autoscaler.failure_table import LAST_WORD_RULES, RULES, SERVICE_RULES
from scaling.autoscaler.failure_text import failure_text
from scaling.autoscaler.failure_words import GENERIC_CODES, FailureClass, Rule

__all__ = ["Failure", "FailureClass", "classify_create_failure", "diagnose_failure", "failure_text", "plain_words"]

_GAP_WORDS = {"..": 4, "...": 8}


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
    rule = _matching_rule(failure_text(error))
    return rule.failure_class if rule else FailureClass.TRANSIENT


def diagnose_failure(error: object) -> Failure:
    """Class and details of a failed create; limit and metric are read only where the class is quota."""
    text = failure_text(error)
    rule = _matching_rule(text)
    if rule is None:
        return Failure(FailureClass.TRANSIENT, False, None, None, False, text)
    is_quota = rule.failure_class is FailureClass.QUOTA
    return Failure(
        failure_class=rule.failure_class,
        rate_limited=rule.rate_limited,
        limit=stated_limit(text) if is_quota else None,
        metric=named_metric(text) if is_quota else None,
        already_exists=rule.already_exists,
        text=text,
        meaning=rule.meaning,
    )


_ESCAPES = re.compile(r"\\[nrt]|\\u00[0-9a-fA-F]{2}|\\")
_ADDRESSES = re.compile(
    r"https?://\S{1,500}|arn:\S{1,500}|x-rate-?limit\S{0,60}|/?\b(?:projects|subscriptions|organizations)/\S{1,500}",
    re.IGNORECASE,
)
_CLIENT_RETRIES = re.compile(r"(?:reached|exceeded) (?:the )?max(?:imum)? (?:number of )?(?:retries|attempts)(?! exc)")
_CODES = re.compile(r"\b(?:[A-Z]{3,}(?:_[A-Z]{2,}){0,4}|(?:[A-Z][a-z]{1,20}){2,5})\b")
_HTTP_STATUS = re.compile(
    r"\b[45][0-9]{2}:? "
    r"(?:bad request|conflict|forbidden|internal server error|not found|service unavailable|unauthorized)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"n['’]t\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s\b)")
_VCPU = re.compile(r"\bvCPU")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_NOT_A_WORD = re.compile(r"[^a-z0-9;]+")


def plain_words(text: str, *, generic_codes: bool = True) -> str:
    """Lower-case words with single spaces and ` ; ` between sentences, as the table's phrases expect them.

    Without `generic_codes` the codes that say nothing of their own are left out.
    """
    text = _ADDRESSES.sub(" ", _ESCAPES.sub(" ", text.replace(";", ". ")))
    if not generic_codes:
        text = _HTTP_STATUS.sub(" ", text)
        text = _CODES.sub(lambda code: " " if _split_words(code[0]) in GENERIC_CODES else code[0], text)
    text = _CAMEL.sub(" ", _VCPU.sub("vcpu", _NEGATION.sub(" not", text)))
    text = _SENTENCE_END.sub(" ; ", text).lower().replace("cannot", "can not")
    words = " ".join(_NOT_A_WORD.sub(" ", text).split())
    # How often the client tried is no limit of the cloud's.
    return f" {_CLIENT_RETRIES.sub('', words)} "


def _split_words(code: str) -> str:
    return _CAMEL.sub(" ", code).replace("_", " ").lower()


def _compiled(rule: Rule) -> re.Pattern[str]:
    return re.compile("|".join(_phrase_pattern(phrase) for phrase in rule.phrases))


def _phrase_pattern(phrase: str) -> str:
    """A phrase of the table as a regular expression; its gaps are bounded, so matching stays linear."""
    pattern = re.sub(r" \.{2,3} ", lambda gap: rf" (?:[a-z0-9]+ ){{0,{_GAP_WORDS[gap[0].strip()]}}}?", phrase)
    pattern = re.sub(r"(?<=\w)\*", r"[a-z0-9]*", pattern)
    return rf"\b(?:{pattern})\b"


_COMPILED = tuple((rule, _compiled(rule)) for rule in RULES)
_WORDS_DECIDE = frozenset(RULES) - frozenset(SERVICE_RULES) - frozenset(LAST_WORD_RULES)


def _matching_rule(text: str) -> Rule | None:
    """The deciding row: what the words say, else what the generic codes say as well."""
    rule = _first_match(plain_words(text, generic_codes=False))
    return rule if rule in _WORDS_DECIDE else _first_match(plain_words(text)) or rule


def _first_match(words: str) -> Rule | None:
    return next((rule for rule, pattern in _COMPILED if pattern.search(words)), None)
