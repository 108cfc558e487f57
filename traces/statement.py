"""Keys of what events state: events with one key state the same in every field that a rule for their kind names.

A cluster states each write a hundred times, in lines that differ in the number of a request or an offset that no rule names. What they state is
worked out once, and found again by the texts of the named fields, none of which is read for that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple

from assay.grammar.kernel import TraceRule
from assay.traces.events import Event, Field
from assay.traces.shapes.form import Form, LineFields

OF_THE_FILE = frozenset({"node", "run"})
"""The fields that every event has: they come from where a line stands, not from what it says."""


class _Stated(NamedTuple):
    """What the messages of a form state in named fields: what is alike in all of them as a number, and the texts of the others."""

    form: Form
    alike: int
    texts: Callable[[str], object]


class _Added(NamedTuple):
    """What is added to the fields of a line, as a number, as far as it is named; whether the line's process run is named and not among it."""

    more: Mapping[str, Field]
    alike: int
    by_run: bool


class StatementKeys:
    """The keys of events for the rules of one clause."""

    def __init__(self, rules: Iterable[TraceRule]) -> None:
        self._names: dict[str, frozenset[str]] = {}
        for rule in rules:
            named = frozenset(field.field for field in rule.fields)
            self._names[rule.event] = self._names.get(rule.event, frozenset()) | named
        self._numbers: dict[Hashable, int] = {}
        self._stated: dict[int, _Stated] = {}
        self._added: dict[tuple[int, str], _Added] = {}

    def of(self, event: Event) -> Hashable | None:
        """The key of an event; None where there is none, because its fields were not read from a message."""
        fields, kind = event.fields, event.kind
        if fields.__class__ is not LineFields or fields.form.shape.kind != kind:
            return None
        stated = self._stated.get(id(fields.form)) or self._of_form(fields.form)
        added = self._added.get((id(fields.more), kind)) or self._of_more(fields.more, kind)
        texts = stated.texts(fields.message)
        if added.by_run:
            return stated.alike, added.alike, texts, event.run
        return stated.alike, added.alike, texts

    def _of_form(self, form: Form) -> _Stated:
        names = sorted(self._names.get(form.shape.kind, ()) & form.fields.keys())
        varying = [name for name in names if name in form.parts]
        same = tuple((name, form.fields[name]) for name in names if name not in form.parts)
        alike = self._number((form.shape.name, tuple(varying), repr(same)))
        slices = [slice(form.parts[name].begin, form.parts[name].end) for name in varying]
        found = self._stated[id(form)] = _Stated(form, alike, itemgetter(*slices) if slices else _no_text)
        return found

    def _of_more(self, more: Mapping[str, Field], kind: str) -> _Added:
        names = self._names.get(kind, frozenset())
        alike = self._number(repr([(name, more[name]) for name in sorted(names & more.keys())]))
        found = self._added[id(more), kind] = _Added(more, alike, not (names & OF_THE_FILE) <= more.keys())
        return found

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _no_text(_: str) -> object:
    return None
