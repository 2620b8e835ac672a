"""When which zone of the demonstration is out of stock: one at a time, in turns."""

from dataclasses import dataclass

from scaling.demonstration.cluster import ZONES

FIRST_AFTER_SECONDS = 45.0
PERIOD_SECONDS = 600.0
LASTS_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class StockOut:
    """A zone without stock at times t with starts_at <= t < ends_at, in Unix seconds."""

    zone: str
    starts_at: float
    ends_at: float


def stock_out_at(began: float, now: float) -> StockOut | None:
    """The stock-out under way at `now` in a demonstration that began at `began`."""
    since_first = now - began - FIRST_AFTER_SECONDS
    if since_first < 0:
        return None
    turn = int(since_first // PERIOD_SECONDS)
    starts_at = began + FIRST_AFTER_SECONDS + turn * PERIOD_SECONDS
    found = StockOut(ZONES[turn % len(ZONES)], starts_at, starts_at + LASTS_SECONDS)
    return found if now < found.ends_at else None
