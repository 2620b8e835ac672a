"""The words of the history for what people and tokens do, and the input that every act shares."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Moment, Text


class ActKind(StrEnum):
    """`Action.kind` of every act by a person or token."""

    SET_LIMITS = "set_limits"
    DRAIN = "drain"
    UNDRAIN = "undrain"
    PAUSE = "pause"
    RESUME = "resume"
    ACKNOWLEDGE = "acknowledge"
    UNACKNOWLEDGE = "unacknowledge"
    MARKER_CLEARED = "marker_cleared"
    HOLD = "hold"
    SET_QUOTA = "set_quota"
    FORGET_LEARNED_LIMIT = "forget_learned_limit"
    SET_PLATFORM_MODE = "set_platform_mode"
    HALT = "halt"
    UNHALT = "unhalt"
    CREATE_TOKEN = "create_token"  # noqa: S105 - a word of the history
    REVOKE_TOKEN = "revoke_token"  # noqa: S105 - a word of the history
    CREATE_CHANNEL = "create_channel"
    SET_CHANNEL = "set_channel"
    REMOVE_CHANNEL = "remove_channel"
    TEST_CHANNEL = "test_channel"
    DEMAND = "demand"
    IMPORT = "import"
    PUT_JOB = "put_job"
    CANCEL_JOB = "cancel_job"
    SCALE = "scale"
    WAKE = "wake"
    SET_TARGETS = "set_targets"
    FORGET = "forget"


REASON = Field("reason", Text(500, lines=True), "Why; kept in the history.")
ACT_FIELDS = FieldTable(
    [
        REASON,
        Field("note", Text(1000, required=True, lines=True), "What is known and being done about it.", required=True),
        Field("deadline", Moment(ahead=True), "When what is still busy ends; null = it may finish."),
        Field("until", Moment(ahead=True), "When it ends by itself; null = never."),
    ]
)


def read_act(**given: Any) -> dict[str, Any]:
    """The shared inputs of an act, read by ACT_FIELDS; raises InvalidRequest."""
    return ACT_FIELDS.only(given).read(given)


def when(moment: datetime | None) -> str:
    """A time as sentences tell it, in UTC to the second."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment else "further notice"
