"""From a logger and a message to events: dispatch on the logger first, then its few shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.traces.event import Field
from assay.traces.patterns.catalogue import Catalogue
from assay.traces.patterns.logger_names import LoggerNames
from assay.traces.patterns.pattern import Reads, Shape, distinct
from assay.traces.patterns.template import skeleton_table
from assay.traces.patterns.template_fields import Form, LineFields, Part, forms_of

_KEPT = 1 << 23
"""How many bytes of skeletons a logger's shapes remember; then they begin anew."""

LONGEST_KEPT = 1 << 13
"""Messages that are longer are looked at one by one."""

_BESIDE = 1 << 10
"""What remembering a skeleton takes beside its own bytes."""

_TELLING = 16
"""What a message must hold at least, in letters, to be known without its logger."""


NO_ROLES: frozenset[str] = frozenset()


@dataclass(slots=True)
class PatternMatch:
    """A shape found in a message, with the decoded fields."""

    shape: Shape
    fields: Mapping[str, Field]


@dataclass(slots=True)
class Likeness:
    """What messages of one skeleton are: the forms of their events, whether one accounts for the whole, and whether a shape is in it more than once.

    ``writers`` are where the id of the broker that wrote the line stands. ``masked`` is the message as it is counted where no shape accounts for the whole of what a
    protocol logger says. ``roles`` is what they tell of the process; see ``Shape.roles``.
    """

    forms: tuple[Form, ...]
    whole: bool
    repeats: bool
    writers: tuple[Part, ...]
    masked: str
    roles: frozenset[str] = NO_ROLES

    def __reduce__(self) -> tuple[type[Likeness], tuple[object, ...]]:
        """What is only looked at while a text is read does not travel."""
        return Likeness, (self.forms, self.whole, self.repeats, (), "", self.roles)

    def findings(self, message: str) -> list[PatternMatch]:
        """The findings in a message of this skeleton."""
        found = [PatternMatch(form.shape, LineFields(form, message)) for form in self.forms]
        return _distinct(found) if self.repeats else found


NOTHING = Likeness((), whole=False, repeats=False, writers=(), masked="")
"""What a message of an unknown logger is."""


def roles_of(found: Iterable[Form | PatternMatch]) -> frozenset[str]:
    """What a line tells of its process in which these were found; see ``Shape.roles``."""
    telling = [each.shape.roles for each in found if each.shape.role is not None or each.shape.joins]
    return frozenset().union(*telling) if telling else NO_ROLES


def _distinct(found: Iterable[PatternMatch]) -> list[PatternMatch]:
    """The findings, those of a shape in one message that are equal once."""
    by_shape: dict[str, list[PatternMatch]] = {}
    for finding in found:
        by_shape.setdefault(finding.shape.name, []).append(finding)
    return [
        PatternMatch(each[0].shape, fields)
        for each in by_shape.values()
        for fields in distinct(dict(finding.fields) for finding in each)
    ]


class LoggerShapes:
    """The shapes of one logger, and what was found in messages so far, by their skeletons (see the note in ``skeleton``)."""

    def __init__(self, shapes: Sequence[Shape], *, protocol: bool) -> None:
        self.protocol = protocol
        self.whole = tuple(s for s in shapes if s.reads is Reads.WHOLE)
        self.parts = tuple(s for s in shapes if s.reads is not Reads.WHOLE)
        around = [shape.around for shape in shapes if shape.around is not None]
        patterns = (*(shape.pattern for shape in shapes), *around, *(pattern for pattern, _ in _MASKS))
        self.table = skeleton_table(patterns, (shape.literal for shape in shapes))
        """Makes a message its skeleton; none if messages have to be looked at one by one."""
        self._known: dict[bytes, Likeness] = {}
        self._kept = 0

    def find(self, message: str) -> tuple[list[PatternMatch], bool]:
        """All findings in a message, and whether a shape accounts for the whole of it."""
        likeness = self.likeness(message.encode("utf-8", "replace"))
        return likeness.findings(message), likeness.whole

    def likeness(self, message: bytes) -> Likeness:
        """What a message is, in UTF-8."""
        if self.table is None or len(message) > LONGEST_KEPT:
            return self.look(message.decode())
        skeleton = message.translate(self.table)
        found = self._known.get(skeleton)
        if found is None:
            self._kept += len(skeleton) + _BESIDE
            if self._kept > _KEPT:
                self._known.clear()
                self._kept = len(skeleton) + _BESIDE
            found = self._known[skeleton] = self.look(message.decode())
        return found

    def look(self, message: str) -> Likeness:
        """The same of a text, shape by shape, and nothing remembered."""
        forms: list[Form] = []
        for shape in self.whole:
            if shape.literal in message and (forms := forms_of(shape, message)):
                break
        whole, repeats = bool(forms), False
        for shape in self.parts:
            if shape.literal in message and (more := forms_of(shape, message)):
                repeats |= len(more) > 1
                forms += more
        writers = dict.fromkeys([part for form in forms for part in form.writers])
        masked = mask(message) if self.protocol and not whole else ""
        return Likeness(tuple(forms), whole, repeats, tuple(writers), masked, roles_of(forms))


class Recogniser:
    """Finds the shapes of a catalogue in records; one for any number of files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._names = LoggerNames(catalogue)
        self._by_logger: dict[str, LoggerShapes | None] = {}
        self._full_names: dict[str, str] = {}
        telling = [s for s in catalogue.shapes if s.reads is Reads.WHOLE and len(s.literal) >= _TELLING]
        self.nameless = LoggerShapes(telling, protocol=False)
        """The shapes by which a message can be known whose logger is not."""
        self.anchors = tuple({shape.anchor for shape in catalogue.shapes if shape.anchor})

    def of_logger(self, logger: str) -> LoggerShapes | None:
        """The shapes of a logger; none if it prints nothing of the protocol."""
        try:
            return self._by_logger[logger]
        except KeyError:
            found = self._by_logger[logger] = self._collect(logger)
            return found

    def full_name(self, logger: str) -> str:
        """The logger that an abbreviated name stands for (``k.s.KafkaServer``, ``KafkaServer``), if shapes know one; else the name itself."""
        if logger not in self._full_names:
            known = logger if self.of_logger(logger) is not None else self._names.in_full(logger)
            self._full_names[logger] = known or logger
        return self._full_names[logger]

    def anywhere(self, message: str) -> list[PatternMatch]:
        """The first finding of the shapes that have an anchor, for a message that came without its logger."""
        anchored = (shape for shape in self.catalogue.shapes if shape.anchor and shape.anchor in message)
        return [PatternMatch(shape, fields) for shape in anchored for fields in shape.match(message)][:1]

    def _collect(self, logger: str) -> LoggerShapes | None:
        shapes, protocol = self._names.shapes(logger), self._names.is_protocol(logger)
        if not shapes and not protocol:
            return None
        return LoggerShapes(shapes, protocol=protocol)


_MASKS = (
    (re.compile(r"\dx[0-9a-fA-F]+"), "<hex>"),
    (re.compile(r"\b[\w.]+-\d+\b"), "<partition>"),
    (re.compile(r"-?\d[\d.,:]*"), "<n>"),
)


@lru_cache(maxsize=4096)
def mask(message: str, limit: int = 200) -> str:
    """The first line of a message with its numbers and names of partitions taken out, so that like lines count as one."""
    text = message.partition("\n")[0][: 2 * limit]
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text[:limit]
