"""``from`` blocks of trace clauses: how the lines of a file become events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from string import Formatter
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.expressions.dispatch import elaborate_type
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.kernel.event_source import DEFAULT_KEYS, PHASES, TIME_UNITS, FieldSource, Rounding
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass

CODE = "E517"
OF_CALLS = ("phase", "process")
"""The keys by which the two lines of a call are distinguished and joined. They are fields, too."""

OF_CAUSES = ("clock", "sends", "receives")
"""The keys that say what happened before a line, for ``order: causal``."""

KEYS = (*DEFAULT_KEYS, "sequence", *OF_CAUSES, *OF_CALLS, "zone")
"""What a ``from`` block can say of the origin and the order of an event."""

UNITS: Mapping[str, Literal["thread", "causal"]] = {"thread": "thread", "causal": "causal"}
"""The orders that are more than the order of lines in files."""

HAVE_FORMS = frozenset({"time", "phase", "sends", "receives"})

READ_BY_BLOCK = frozenset({"events", "text"})
"""The catalogues whose events a block describes."""

ISO = "iso"
_FORMS = {"µs": "us", "μs": "us", "iso8601": ISO, "rfc3339": ISO, "iso": ISO, **{unit: unit for unit in TIME_UNITS}}
_OFFSET = re.compile(r"[+-](?:[01]\d|2[0-3]):?[0-5]\d")
_ROUNDINGS: tuple[Rounding, ...] = ("nearest", "up", "down")


@dataclass(slots=True)
class SourceReader:
    """Reads one ``from`` block. ``types`` are those that the block gives to fields."""

    scope: Scope
    diagnostics: Diagnostics
    types: dict[str, Type] = field(default_factory=dict)

    def read(self, line: syntax.From) -> kernel.EventSource:
        """The source that the block describes; without a block that of ``docs/events.md``."""
        if line.items and str(line.catalogue) not in READ_BY_BLOCK:
            what = f"`from {line.catalogue}` takes no block: only lines of `events` and of `text` are read by one"
            self.diagnostics.error(CODE, line.catalogue.span, what)
        keys = self._keys([each for each in line.items if isinstance(each, syntax.SourceKey)])
        fields = tuple(self._fields([each for each in line.items if isinstance(each, syntax.SourceField)], keys))
        # `zone` is the value itself and no key of a line.
        paths = {name: key.path for name, key in keys.items() if name != "zone"}
        form = self._form(keys["time"]) if "time" in keys else None
        zone = self._zone(keys["zone"]) if "zone" in keys else None
        joined = tuple(FieldSource(name, paths[name], span=keys[name].span) for name in OF_CALLS if name in paths)
        return kernel.EventSource(
            tuple((DEFAULT_KEYS | paths).items()),
            frozenset(keys),
            form,
            zone,
            (*joined, *fields),
            self._phases(keys.get("phase")),
            catalogue=str(line.catalogue),
            senders=_events_of(keys.get("sends")),
            receivers=_events_of(keys.get("receives")),
            patterns=self._patterns(line),
            span=line.span,
        )

    def _patterns(self, line: syntax.From) -> tuple[str, ...]:
        """The pattern file that the line names, which lies beside the spec."""
        if line.patterns is None:
            return ()
        if str(line.catalogue) != "text":
            what = f"`from {line.catalogue}` takes no file: only lines of `text` are read by the patterns of one"
            self.diagnostics.error(CODE, line.span, what)
        return (str(Path(line.span.file).parent / line.patterns),)

    def _phases(self, item: syntax.SourceKey | None) -> tuple[str, ...]:
        """The words that say which part of a call a line reports, in the order of ``PHASES``."""
        if item is None or item.form is None:
            return PHASES
        words = tuple(word.strip() for word in item.form.split(","))
        if len(words) != len(PHASES) or len(set(words)) != len(words) or not all(words):
            self._wrong(item, f'four words say what a line reports of a call: `in "{", ".join(PHASES)}"`')
            return PHASES
        return words

    def _keys(self, items: list[syntax.SourceKey]) -> dict[str, syntax.SourceKey]:
        found: dict[str, syntax.SourceKey] = {}
        for item in items:
            name = item.name.text
            if name not in KEYS:
                guess = did_you_mean(name, KEYS)
                known = f"a line states the {', '.join(KEYS)} of an event"
                advice = f"any other key is a field: `field {name} = …`"
                self._wrong(
                    item.name, f"`{name}` is none of them: {known}", guess and f"did you mean `{guess}`?", advice
                )
            elif name in found:
                first = Note("first given here", found[name].span)
                self.diagnostics.error(CODE, item.span, f"`{name}` is given twice", first)
            else:
                found[name] = item
            self._check_path(item, item.path)
            if item.form is not None and name not in HAVE_FORMS:
                self._wrong(item, f"only a time has a unit or a format, and `{name}` has none")
        return found

    def _fields(self, items: list[syntax.SourceField], keys: Mapping[str, syntax.SourceKey]) -> Iterator[FieldSource]:
        # The keys come first, for no field may have the name of one.
        first: dict[str, syntax.SourceField | syntax.SourceKey] = dict(keys)
        for item in items:
            name = item.name.text
            if name in first:
                note = Note("first given here", first[name].span)
                self.diagnostics.error(CODE, item.span, f"two keys are read as the field `{name}`", note)
            first.setdefault(name, item)
            self._check_path(item, item.path)
            if item.type is not None:
                self.types[name] = elaborate_type(item.type, self.scope, self.diagnostics)
            if item.divided == 0 or item.times == 0:
                self._wrong(item, "a number is scaled by a number other than 0")
            rounding = next((each for each in _ROUNDINGS if each == item.rounding), None)
            if item.rounding is not None and rounding is None:
                self._wrong(item, "a number is `rounded`, `rounded up` or `rounded down`")
            default = item.default
            yield FieldSource(
                name,
                item.path,
                item.times,
                # A zero was reported above, and must not divide anything behind this.
                item.divided or 1,
                rounding,
                default is not None,
                None if default is None else default.value,
                span=item.span,
            )

    def _check_path(self, item: syntax.SourceItem, path: str) -> None:
        if not path or not all(path.split(".")):
            self._wrong(item, "a key is a text; the keys of nested objects have one dot between them")

    def _form(self, item: syntax.SourceKey) -> str | None:
        """The unit or format of a time."""
        form = item.form
        if form is not None and "%" in form and (wrong := _wrong_format(form)) is not None:
            self._wrong(item, f"`{form}` is no format of a time: {wrong}")
        if form is None or "%" in form:
            return form
        # `ISO-8601`, `RFC 3339` and `rfc_3339` are one form each, however they are written.
        known = _FORMS.get(form.lower().replace(" ", "").replace("-", "").replace("_", ""))
        if known is None:
            guess = did_you_mean(form, _FORMS)
            units = '`ns`, `us`, `ms`, `s`, `iso` (RFC 3339 too), or a format such as `"%d/%b/%Y:%H:%M:%S"`'
            self._wrong(item, f"a time is in {units}, not in `{form}`", guess and f"did you mean `{guess}`?")
        return known

    def _zone(self, item: syntax.SourceKey) -> str | None:
        """The zone of times without one: a name of the tz database, or an offset."""
        name = item.path
        if _OFFSET.fullmatch(name) or name in {"UTC", "Z"}:
            return name
        if not name:
            return None  # reported as an unknown key
        try:
            ZoneInfo(name)
        except (ValueError, OSError, KeyError):
            guess = did_you_mean(name, available_timezones())
            text = f"no zone is called `{name}`; write one such as `Europe/Berlin`, or an offset such as `+02:00`"
            self._wrong(item, text, guess and f"did you mean `{guess}`?")
            return None
        return name

    def _wrong(self, node: syntax.Node, message: str, *advice: str | None) -> None:
        self.diagnostics.error(CODE, node.span, message, *(each for each in advice if each))


def _events_of(item: syntax.SourceKey | None) -> tuple[str, ...]:
    """The events whose lines send or receive: ``sends = "id" in "Request, Reply"``."""
    if item is None or item.form is None:
        return ()
    return tuple(word for each in item.form.split(",") if (word := each.strip()))


_NOT_CAUSAL = {syntax.Slice: "slice", syntax.CallLine: "call", syntax.Begins: "begins anywhere"}
"""Lines of a clause that have no meaning yet where lines are ordered by their causes."""


def check_order(
    source: kernel.EventSource,
    line: syntax.From,
    order: syntax.OrderLine | None,
    lines: Iterable[syntax.TraceLine],
    diagnostics: Diagnostics,
) -> None:
    """Whether the block says what the order needs, and the clause nothing that has no meaning then."""
    if source.order == "sequence" and order is not None and source.path("sequence") is None:
        text = "`order: sequence` needs the key of the numbers: `sequence = …` in a `from events:` block"
        diagnostics.error(CODE, order.span, text)
    given = [name for name in OF_CAUSES if source.path(name) is not None]
    if order is None or order.unit != "causal":
        if given:
            diagnostics.error(CODE, line.span, f"`{given[0]}` tells an order only with `order: causal`")
        return
    if "clock" not in given and not {"sends", "receives"} <= set(given):
        text = "`order: causal` needs the key of a vector clock (`clock = …`), or `sends = …` and `receives = …`"
        diagnostics.error(CODE, order.span, text)
    if order.commit_before_line is not None or order.skew is not None:
        text = "with `order: causal` times order nothing: leave `commit before line within` and `skew` out"
        diagnostics.error(CODE, order.span, text)
    for other in lines:
        if (name := _NOT_CAUSAL.get(type(other))) is not None:
            diagnostics.error(CODE, other.span, f"`{name}` cannot be combined with `order: causal`")


def named_in(text: str) -> set[str]:
    """What stands in braces in a text about an event: names of fields, where nothing is wrong."""
    try:
        parsed = [each for each in Formatter().parse(text) if each[1] is not None]
    except ValueError:
        return {""}
    # Values are shown as the log has them: a number as a text, on which `{n:x}` would fail.
    return {f"{name}:{form}" if form else f"{name}!{how}" if how else name or "" for _, name, form, how in parsed}


def _wrong_format(form: str) -> str | None:
    """What is wrong with a format of ``strptime``; None if it can be used."""
    try:
        datetime.strptime("", form)
    # `strptime` makes a regular expression of the format, in which a repeated part is a repeated group.
    except re.error:
        return "it names one part of a time twice"
    except ValueError as error:
        # No text fits an empty one, so `strptime` refuses a right format too. Only its message tells the two apart.
        return None if "does not match" in str(error) else str(error).partition(" in format")[0]
    return None
