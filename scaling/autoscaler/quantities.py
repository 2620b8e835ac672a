"""Reads amounts as people write them: cores, bytes, whole counts, shares of devices.

Kubernetes and cloud notations are both in use, so both are read: `500m` cores, `4GiB` (binary), `192GB` (decimal),
`512Mi` and `1G` (Kubernetes style). Every refusal is a ValueError of one sentence that names the text and what was
expected; the caller adds the place.
"""

import re
from decimal import ROUND_CEILING, Decimal, InvalidOperation, localcontext

MAX_CORES = 1_000_000
MAX_BYTES = 2**60
MAX_COUNT = 1_000_000_000

_CORES_EXPECTED = 'a number of cores such as 2, 1.5 or "500m"'
_BYTES_EXPECTED = 'a size such as "4GiB", "192GB", "512Mi" or a number of bytes'
_COUNT_EXPECTED = "a whole number, 0 or more"
_DEVICES_EXPECTED = "a number of devices, 0 or more, such as 4 or 0.5"

_AMOUNT = re.compile(
    r"([+-]?)([0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE]([+-]?[0-9]{1,3}))?\s*([A-Za-z]{0,12})"
)

_PREFIXES = "kmgtpe"
_BYTE_UNITS: dict[str, int] = {"": 1, "b": 1, "byte": 1, "bytes": 1}
for _power, _prefix in enumerate(_PREFIXES, start=1):
    _BYTE_UNITS |= {_prefix: 1000**_power, f"{_prefix}b": 1000**_power}
    _BYTE_UNITS |= {f"{_prefix}i": 1024**_power, f"{_prefix}ib": 1024**_power}

_CORE_UNITS = {"": Decimal(1), "m": Decimal(1) / 1000}


_BINARY_STEP = 1024
_THREE_DIGITS = 100


def parse_cores(value: object) -> float:
    """CPU cores: a number, or text with an optional `m` for thousandths. 0 to 1,000,000."""
    number, unit = _split(value, _CORES_EXPECTED)
    if unit not in _CORE_UNITS:
        raise _refusal(value, _CORES_EXPECTED)
    return float(_bounded(value, number * _CORE_UNITS[unit], MAX_CORES, _CORES_EXPECTED))


def parse_bytes(value: object) -> int:
    """Bytes: `GiB`/`Gi` are binary, `GB`/`G` decimal, a plain number is bytes; case does not count. 0 to 1 EiB.

    A fraction of a byte is rounded up, as Kubernetes does. A lone small `m` is refused: Kubernetes means thousandths
    of a byte by it, Docker mebibytes, and people megabytes.
    """
    number, unit = _split(value, _BYTES_EXPECTED)
    if unit == "m" or unit.lower() not in _BYTE_UNITS:
        raise _refusal(value, _BYTES_EXPECTED)
    exact = _bounded(value, number * _BYTE_UNITS[unit.lower()], MAX_BYTES, _BYTES_EXPECTED)
    return int(exact.to_integral_value(rounding=ROUND_CEILING))


def parse_count(value: object) -> int:
    """A whole number of things: `3`, `"3"` and `3.0` alike. 0 to 1,000,000,000."""
    number, unit = _split(value, _COUNT_EXPECTED)
    if unit or number != number.to_integral_value():
        raise _refusal(value, _COUNT_EXPECTED)
    return int(_bounded(value, number, MAX_COUNT, _COUNT_EXPECTED))


def parse_devices(value: object) -> float:
    """Devices per task, where a share of one device is allowed (`0.46`). 0 to 1,000,000,000."""
    number, unit = _split(value, _DEVICES_EXPECTED)
    if unit:
        raise _refusal(value, _DEVICES_EXPECTED)
    return float(_bounded(value, number, MAX_COUNT, _DEVICES_EXPECTED))


def _split(value: object, expected: str) -> tuple[Decimal, str]:
    """(number, unit as written) of an amount; a bool is never a number here."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise _refusal(value, expected)
    found = _AMOUNT.fullmatch(str(value).strip()) if _printable(value) else None
    if found is None:
        raise _refusal(value, expected)
    sign, digits, exponent, unit = found.groups()
    try:
        with localcontext(prec=60):
            return Decimal(f"{sign}{digits}e{exponent or 0}"), unit
    except InvalidOperation:
        raise _refusal(value, expected) from None


def _printable(value: int | float | str | Decimal) -> bool:
    """Python refuses to print integers of more than 4,300 digits; such a number is absurd anyway."""
    return not isinstance(value, int) or value.bit_length() < 200


def _bounded(value: object, number: Decimal, largest: int, expected: str) -> Decimal:
    if number < 0:
        raise ValueError(f"{_shown(value)} is negative; expected {expected}.")
    if number > largest:
        raise ValueError(f"{_shown(value)} is too large; at most {largest:,} is accepted.")
    return number


def _refusal(value: object, expected: str) -> ValueError:
    return ValueError(f"{_shown(value)} cannot be read; expected {expected}.")


def _shown(value: object) -> str:
    """The value as the reader wrote it, never longer than a line."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() >= 200:
        return "A number of more than 60 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def size_words(amount: float) -> str:
    """Bytes as people write them, to three digits: `64 GiB`, `1.5 TiB`, `512 B`."""
    unit = "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < _BINARY_STEP or unit == "PiB":
            break
        amount /= _BINARY_STEP
    return f"{plain_number(amount)} {unit}"


_DURATION_STEPS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def duration_words(seconds: float) -> str:
    """A duration as people say it, in its two largest units: `30 s`, `2 min 10 s`, `1 d 2 h`, `0.5 s`."""
    if 0 < seconds < 1:
        return f"{seconds:.1g} s"
    left = max(0, round(seconds))
    parts: list[str] = []
    for unit, size in _DURATION_STEPS:
        count, left = divmod(left, size)
        if parts or count:
            parts.append(f"{count} {unit}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(filter(None, parts)) or "0 s"


def plain_number(amount: float) -> str:
    """A count or a share without an exponent: `128`, `0.5`, `1,200`."""
    return f"{amount:,.0f}" if amount >= _THREE_DIGITS or amount == int(amount) else f"{amount:.3g}"
