"""A span processor for OpenTelemetry's SDK, which makes an event of each span that ends, and of each event in it.

Nothing of OpenTelemetry is imported: the SDK calls these methods, and a span has the attributes that are read here
(https://opentelemetry.io/docs/specs/otel/trace/sdk/).
"""

from __future__ import annotations

from typing import Any

from assay.record.recorder import Recorder


class RecordingSpanProcessor:
    """Records spans: ``provider.add_span_processor(RecordingSpanProcessor(recorder))``.

    The event has the span's name, and as fields its attributes, ``start`` and ``end`` (milliseconds since 1970),
    ``status``, ``trace_id``, ``span_id`` and ``parent_id``. Its time is the end. Events in the span come before it, with
    their own times and attributes. ``only`` are the names of spans and events to record; all, if it is left out.
    """

    def __init__(self, recorder: Recorder, only: frozenset[str] | None = None) -> None:
        self.recorder = recorder
        self.only = only

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Nothing: a span is recorded when it ends."""

    def _on_ending(self, span: Any) -> None:
        """Nothing: likewise."""

    def on_end(self, span: Any) -> None:
        """Record the events of the span, and the span."""
        context, parent = span.get_span_context(), span.parent
        ids = {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
        for each in span.events:
            self._record(each.name, each.attributes, {"time": each.timestamp / 1e6, **ids})
        reported = {
            "time": span.end_time / 1e6,
            "start": span.start_time / 1e6,
            "end": span.end_time / 1e6,
            "status": span.status.status_code.name,
            "parent_id": None if parent is None else f"{parent.span_id:016x}",
            **ids,
        }
        self._record(span.name, span.attributes, reported)

    def _record(self, name: str, attributes: Any, reported: dict[str, Any]) -> None:
        if self.only is None or name in self.only:
            fields = {key: value for key, value in (attributes or {}).items() if key not in {"event", "sequence"}}
            self.recorder.record(name, **{**reported, **fields})

    def shutdown(self) -> None:
        """Write what was recorded; the recorder stays open, for it may have other sources."""
        self.recorder.flush()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the signature is the SDK's
        """Write what was recorded."""
        self.recorder.flush()
        return True
