"""The terms of controllers that lines mention: the epoch of each, its controller, and the first line of it.

Elections, lines with an epoch and lines of whoever acts as controller tell of them (``inferred_events.toml``). Where no
line of an incarnation of the cluster has an epoch, each change of the acting controller is the next term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from assay.traces.event import Field
from assay.traces.inference.facts import NEAR, Fact, data

Term = tuple[int, int]
"""The incarnation of the cluster, and the epoch in it."""


class CoordinatorTerms:
    """The first mention of each term, and its controller."""

    def __init__(self, facts: Sequence[Fact], incarnation_at: Callable[[int], int]) -> None:
        """``facts`` are in the order of their times; ``incarnation_at`` gives the incarnation of the cluster at a time."""
        self._member, self._coordinator = data()["member"], data()["coordinator"]
        self._facts, self._incarnation_at = facts, incarnation_at
        held = self._numbered("held")
        # An election replaces a mention of its epoch, also an earlier one: clocks differ, and the winner is in it.
        self.first = self._numbered("mentioned") | held
        own = self._coordinator
        self.holders = {
            term: fact.get(own["winner" if term in held else "holder"]) for term, fact in self.first.items()
        }
        told = {incarnation for incarnation, _ in self.first}
        for fact, holder in self._acting():
            # Where no line of an incarnation has an epoch, epochs are counted from the changes of the controller.
            needed = self._needed if incarnation_at(fact.time) in told else self._next
            term = needed(fact, holder)
            if term is not None and term not in held and (term not in self.first or fact.time < self.first[term].time):
                self.first[term], self.holders[term] = fact, holder

    def unlogged(self) -> Iterator[tuple[int, int, Field, Fact]]:
        """The terms without a logged election: incarnation, epoch, controller and first mention of each."""
        for (incarnation, number), fact in sorted(self.first.items(), key=itemgetter(0)):
            if fact.event.kind not in self._coordinator["held"]:
                yield incarnation, number, self.holders[incarnation, number], fact

    def _numbered(self, kinds: str) -> dict[Term, Fact]:
        """The terms in lines of these kinds that have an epoch; elections may be for epoch 0."""
        found: dict[Term, Fact] = {}
        for fact in self._facts:
            number = fact.get(self._coordinator["term"])
            if (
                isinstance(number, int)
                and (number > 0 or kinds == "held")
                and fact.event.kind in self._coordinator[kinds]
            ):
                found.setdefault((self._incarnation_at(fact.time), number), fact)
        return found

    def _acting(self) -> Iterator[tuple[Fact, Field]]:
        """Lines that name the controller without its epoch."""
        for fact in self._facts:
            if fact.event.kind in self._coordinator["acting"]:
                yield fact, fact.get(self._member["name"])
            elif fact.event.kind in self._coordinator["known"]:
                yield fact, fact.get(self._coordinator["winner"])

    def _of(self, fact: Fact) -> list[Term]:
        """The known terms of the incarnation of a fact."""
        incarnation = self._incarnation_at(fact.time)
        return [term for term in self.first if term[0] == incarnation]

    def _needed(self, fact: Fact, holder: Field) -> Term | None:
        """The term in which a controller must have been elected before a line: one of its own, or a free one. None if
        there is neither.
        """
        own = [term for term in self._of(fact) if self.holders[term] == holder]
        if any(self.first[term].time <= fact.time + NEAR for term in own):
            return self._another(fact, holder) if fact.event.kind in self._coordinator["known"] else None
        # By epoch, not by time: terms are pairs of incarnation and epoch, and clocks of nodes differ.
        coming = min((term for term in self._of(fact) if self.first[term].time > fact.time), default=None)
        if coming is None or coming in own:
            return coming
        # The next known epoch is another broker's, so this one was elected in the epoch before that, if it is free.
        before = coming[0], coming[1] - 1
        return before if before not in self.first and before[1] > 0 else None

    def _another(self, fact: Fact, holder: Field) -> Term | None:
        """The second term of a former controller that a line shows as controller again; None if none is needed."""
        known = self._of(fact)
        if any(self.holders[term] == holder for term in known if abs(self.first[term].time - fact.time) <= NEAR):
            return None
        # There is one at least: `_needed` found a term of this very controller by this time.
        last = max(term for term in known if self.first[term].time <= fact.time + NEAR)
        following = last[0], last[1] + 1
        is_open = self.holders[last] != holder and self.holders.get(following, holder) == holder
        return following if is_open else None

    def _next(self, fact: Fact, holder: Field) -> Term | None:
        """The term after that of another controller, where no line tells of any epoch."""
        last = max(self._of(fact), default=(self._incarnation_at(fact.time), 0))
        return None if self.holders.get(last) == holder else (last[0], last[1] + 1)
