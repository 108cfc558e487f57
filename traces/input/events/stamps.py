"""What a line says of what happened before it: a vector clock, and the messages that it sends and receives.

Vector clocks: Fidge 1988, Mattern 1989. Messages: the "happened before" of Lamport 1978.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from assay.grammar.kernel.event_source import EventSource
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.input.events.paths import MISSING, compiled_path


class StampError(Exception):
    """Raised for a line whose stamp cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class CausalStamp:
    """What a line says of its causes.

    ``clock`` is its vector clock: how many events of each node happened before it or are it; None if it has none.
    ``sends`` and ``receives`` are ids of messages.
    """

    clock: Mapping[str, int] | None = None
    sends: tuple[str, ...] = ()
    receives: tuple[str, ...] = ()


class StampReader:
    """Reads the stamps of lines, as the block of a clause says."""

    def __init__(self, source: EventSource) -> None:
        self._source = source
        keys = {key: path for key in ("clock", "sends", "receives") if (path := source.path(key)) is not None}
        self._paths = keys
        self._at: Mapping[str, Callable[[Any], Any]] = {key: compiled_path(path) for key, path in keys.items()}

    def read(self, kind: str, content: Mapping[str, Any]) -> CausalStamp:
        """The stamp of a line of this kind of event. Raises ``StampError``."""
        sends = self._messages("sends", kind, self._source.senders, content)
        return CausalStamp(
            self._clock(kind, content), sends, self._messages("receives", kind, self._source.receivers, content)
        )

    def _clock(self, kind: str, content: Mapping[str, Any]) -> Mapping[str, int] | None:
        if "clock" not in self._at:
            return None
        found = self._at["clock"](content)
        if found is MISSING or found is None:
            if kind in self._source.observed:
                raise StampError(f"`{self._paths['clock']}`, the vector clock, is missing")
            return None  # no rule is about it, and the clocks of other lines know what came before them
        # Some loggers write the clock as JSON within a text.
        if isinstance(found, str):
            try:
                found = json.loads(found)
            except (ValueError, RecursionError):
                found = MISSING
        if not isinstance(found, Mapping) or not all(map(_is_count, found.values())):
            raise StampError(
                f"`{self._paths['clock']}`, the vector clock, is no object with a whole number from 0 on for each node"
            )
        return {str(node): count for node, count in found.items()}

    def _messages(self, key: str, kind: str, events: tuple[str, ...], content: Mapping[str, Any]) -> tuple[str, ...]:
        if key not in self._at or (events and kind not in events):
            return ()
        found = self._at[key](content)
        if found is MISSING or found is None:
            if events:
                raise StampError(f"`{self._paths[key]}`, the id of the message that it {key}, is missing")
            return ()
        ids = found if isinstance(found, list | tuple) else (found,)
        if not all(isinstance(each, str | int) and not isinstance(each, bool) for each in ids):
            raise StampError(
                f"`{self._paths[key]}`, the id of the message that it {key}, is neither a text nor a number"
            )
        return tuple(map(str, ids))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
