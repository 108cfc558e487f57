"""Records events of a running program, in files that a trace clause ``from events`` reads as they are.

::

    from assay.record import Recorder

    with Recorder("events.jsonl", node="n1") as log:
        log.record("Acquired", client="anna", number=1)

``RecordingHandler`` makes events of log records, ``RecordingSpanProcessor`` of OpenTelemetry's spans. Nothing else of
assay is imported: a service that records needs no engine. Why it is made this way: docs/design/recording.md.
"""

from assay.record.log_handler import RecordingHandler
from assay.record.recorder import Recorder
from assay.record.span_processor import RecordingSpanProcessor

__all__ = ["Recorder", "RecordingHandler", "RecordingSpanProcessor"]
