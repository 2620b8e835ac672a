"""One structured line per event: `time level logger message key=value ...`."""

import json
import logging
import time

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class StructuredFormatter(logging.Formatter):
    """Formats `logger.info("slice ready", extra={"slice": name})` as one greppable line."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        head = f"{stamp}.{int(record.msecs):03d}Z {record.levelname:<7} {record.name}: {record.getMessage()}"
        fields = [
            f"{key}={value if isinstance(value, int | float) else json.dumps(str(value))}"
            for key, value in vars(record).items()
            if key not in _STANDARD and not key.startswith("_")
        ]
        line = " ".join([head, *fields])
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line
