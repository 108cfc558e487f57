"""A handler of ``logging`` that makes events of the log records that name one."""

from __future__ import annotations

import logging

from assay.record.recorder import Recorder

# What `logging` itself puts into a record: formatters add `message` and `asctime`, and Python 3.12 added `taskName`.
_ATTRIBUTES = frozenset({*logging.makeLogRecord({}).__dict__, "message", "asctime", "taskName", "event"})


class RecordingHandler(logging.Handler):
    """Records each log record that has an ``event``: ``logger.info("…", extra={"event": "Acquired", "client": "a"})``.

    Everything else in ``extra`` is a field; the message and the level are those of the record. Other log records are
    passed over.
    """

    def __init__(self, recorder: Recorder, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self.recorder = recorder

    def emit(self, record: logging.LogRecord) -> None:
        """Record it, if it names an event."""
        values = record.__dict__
        event = values.get("event")
        if not isinstance(event, str):
            return
        try:
            # What `extra` adds lies among the record's own attributes: it is what is left of them.
            fields = {name: value for name, value in values.items() if name not in _ATTRIBUTES}
            reported = {"time": record.created * 1e3, "message": record.getMessage(), "level": record.levelname}
            self.recorder.record(event, **{**reported, **fields})
        except Exception:  # noqa: BLE001 - as handlers do: the program goes on, and logging says what is wrong
            self.handleError(record)

    def flush(self) -> None:
        """Write what was recorded."""
        self.recorder.flush()
