"""Keys of statements: events with one key state the same in every field that a rule for their kind names.

A cluster reports each update a hundred times, in lines that differ in a request number or an offset that no rule names.
The key consists of the texts of the named fields, so that nothing has to be decoded for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple

from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import TraceRule
from assay.traces.event import Event
from assay.traces.patterns.template_fields import FieldLayout, LineFields

OF_THE_FILE = frozenset({"node", "run", "previous_run"})
"""The fields that come from where a line stands, not from what it says; every event has them."""

EVERY_SLICE = "slice"
"""The field that every event of a slice has: the element of the slicing set that stands for the slice at hand."""

IN_PLACE = OF_THE_FILE | {EVERY_SLICE}
"""The fields that are added to those of a message even if it has such a field itself."""

_ABSENT = object()


class _Logged(NamedTuple):
    """The statement of messages of one field layout: what is the same in all of them as a number, and the texts of the
    rest.

    ``added`` are the named fields that the messages do not have, or that others replace.
    """

    alike: int
    texts: Callable[[str], object]
    added: tuple[str, ...]
    of_the_file: bool


def named_by(rules: Iterable[TraceRule]) -> dict[str, frozenset[str]]:
    """The fields that rules name, by the kind of event that they are for."""
    names: dict[str, frozenset[str]] = {}
    for rule in rules:
        names[rule.event] = names.get(rule.event, frozenset()) | {field.field for field in rule.fields}
    return names


class StatementKeys:
    """The keys of events, for the fields of each kind of event."""

    def __init__(self, names: Mapping[str, frozenset[str]]) -> None:
        self._names = names
        self._numbers: dict[Hashable, int] = {}
        self._logged: IdentityMemo[FieldLayout, _Logged] = IdentityMemo()

    def of(self, event: Event) -> Hashable | None:
        """The key of an event; None if its fields were not read from a message."""
        fields = event.fields
        # An inferred event, or one of a file of events: no text stands for its fields.
        if fields.__class__ is not LineFields or fields.field_layout.pattern.kind != event.kind:
            return None
        alike, texts, added, of_the_file = self._logged.get_or_make(fields.field_layout, self._of_field_layout)
        more = fields.more
        given = tuple([more.get(name, _ABSENT) for name in added])
        # A field of the file that was not added is a property of the run, so the run belongs to the key.
        if of_the_file and _ABSENT in given:
            return alike, given, texts(fields.message), event.run
        return alike, given, texts(fields.message)

    def _of_field_layout(self, field_layout: FieldLayout) -> _Logged:
        names = self._names.get(field_layout.pattern.kind, frozenset())
        own = sorted(names & field_layout.fields.keys())
        varying = tuple(name for name in own if name in field_layout.spans)
        same = repr([(name, field_layout.fields[name]) for name in own if name not in field_layout.spans])
        alike = self._numbers.setdefault((field_layout.pattern.name, varying, same), len(self._numbers))
        slices = [slice(*field_layout.spans[name][1:]) for name in varying]
        added = tuple(sorted(name for name in names if name not in field_layout.fields or name in IN_PLACE))
        texts = itemgetter(*slices) if slices else _no_text
        return _Logged(alike, texts, added, not names.isdisjoint(OF_THE_FILE))


def _no_text(_: str) -> object:
    return None
