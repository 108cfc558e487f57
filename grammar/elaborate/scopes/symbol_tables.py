"""A module's own names as a table whose entries are made on first use, and the tables of the modules it uses.

Declarations may stand in any order, so making an entry may look up others. An entry that needs itself is a cycle,
reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.elaborate.scopes.scope import Entity, TypeEntity, ValueEntity
from assay.grammar.elaborate.scopes.type_relations import ERROR
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Maker:
    """How an entry is made; ``kind`` names it in messages."""

    kind: str
    span: Span
    make: Callable[[], Entity]


@dataclass(slots=True, eq=False)
class OwnNames(Mapping[str, Entity]):
    """The table. A name that is declared twice keeps its first meaning, and the second is reported."""

    diagnostics: Diagnostics
    makers: dict[str, Maker] = field(default_factory=dict)
    made: dict[str, Entity] = field(default_factory=dict)
    busy: list[str] = field(default_factory=list)

    def declare(self, name: syntax.Name, kind: str, make: Callable[[], Entity]) -> None:
        """Add an entry, or report that the name is taken."""
        earlier = self.makers.get(name.text)
        if earlier is None:
            self.makers[name.text] = Maker(kind, name.span, make)
            return
        what = f"`{name.text}` is already the name of {_article(earlier.kind)}"
        self.diagnostics.error("E301", name.span, what, Note("first declared here", earlier.span))

    def __getitem__(self, name: str) -> Entity:
        if name not in self.made:
            maker = self.makers[name]
            if name in self.busy:
                return self._cycle(name, maker)
            self.busy.append(name)
            entity = maker.make()
            self.busy.remove(name)
            self.made.setdefault(name, entity)
        return self.made[name]

    def _cycle(self, name: str, maker: Maker) -> Entity:
        around = " -> ".join([*self.busy[self.busy.index(name) :], name])
        self.diagnostics.error("E305", maker.span, f"`{name}` is defined by itself: {around}")
        # Of the kind that was asked for, so that nothing is reported of it but the circle.
        is_type = maker.kind in ("type", "enum", "record")
        return TypeEntity(ERROR, maker.span) if is_type else ValueEntity(kernel.Local(ERROR, name), maker.span)

    def __contains__(self, name: object) -> bool:
        # `Mapping` would make the entry to see whether it is there.
        return name in self.makers

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)


@dataclass(frozen=True, slots=True, eq=False)
class UsedNames(Mapping[str, tuple[Entity, ...]]):
    """The names that several tables offer, each with every entity it may denote."""

    tables: Sequence[Mapping[str, Entity]]

    def __getitem__(self, name: str) -> tuple[Entity, ...]:
        found: list[Entity] = []
        for table in self.tables:
            # By identity: a module that is used under two names offers each entity twice, which is no ambiguity.
            if name in table and not any(table[name] is other for other in found):
                found.append(table[name])
        if not found:
            raise KeyError(name)
        return tuple(found)

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self.tables)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for table in self.tables for name in table))

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass(frozen=True, slots=True, eq=False)
class ExportedNames(Mapping[str, Entity]):
    """A module's names without the names that it gives to the modules it uses."""

    own: Mapping[str, Entity]
    hidden: frozenset[str]

    def __getitem__(self, name: str) -> Entity:
        if name in self.hidden:
            raise KeyError(name)
        return self.own[name]

    def __contains__(self, name: object) -> bool:
        return name in self.own and name not in self.hidden

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.own if name not in self.hidden)

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass(frozen=True, slots=True, eq=False)
class LayeredNames(Mapping[str, tuple[Entity, ...]]):
    """A table in front of another: a name of the second counts if the first does not have it."""

    first: Mapping[str, tuple[Entity, ...]]
    then: Mapping[str, tuple[Entity, ...]]

    def __getitem__(self, name: str) -> tuple[Entity, ...]:
        return self.first[name] if name in self.first else self.then[name]

    def __contains__(self, name: object) -> bool:
        return name in self.first or name in self.then

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.first, *self.then]))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
