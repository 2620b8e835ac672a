"""Times between the database (aware datetimes, UTC) and the pure core (Unix seconds)."""

from datetime import UTC, datetime
from typing import overload


@overload
def seconds(moment: datetime) -> float: ...
@overload
def seconds(moment: None) -> None: ...
def seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


@overload
def moment(seconds_: float) -> datetime: ...
@overload
def moment(seconds_: None) -> None: ...
def moment(seconds_: float | None) -> datetime | None:
    return None if seconds_ is None else datetime.fromtimestamp(seconds_, UTC)
