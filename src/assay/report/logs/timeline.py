"""The timeline of a first screen: controllers, starts and failures of processes, and outages, in the order of time.

An outage is one entry for all partitions that it struck together. The next controller's entry says how long there was
none before it. What ends because all brokers are shut down at the end of the logs is no outage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line, Tone, clean, listed, plural
from assay.report.logs.impact import clock
from assay.traces.diagnosis.incident_moments import Moment
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.durations import duration_in_words
from assay.traces.result import Impact, Spell, Validation

NAMES_SHOWN = 4
TOGETHER = 10_000
"""Equal moments of several nodes, and outages of several partitions, within so many milliseconds are told in one line."""
ENDED_BY = 2_000
"""A time without controller ends at most so many milliseconds before or after the line of the next one."""
LEAST_SPELL = 1_000
"""Outages that are shorter (milliseconds) are told only as a part of others."""
BRIEF = 2.5
"""The weight of an outage that may have lasted less than a second."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An entry of the timeline. The lightest are left out where there is no room."""

    time: float
    text: str
    weight: float
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class _Outage:
    """An interval of a measure, in one partition or (None) in what all share."""

    measure: str
    spell: Spell
    slice: str | None


def timeline(validation: Validation, input_: Overview, noun: str) -> list[Happened]:
    """What happened, in the order of time; ``noun`` is what the spec calls a slice."""
    outages = _outages(validation, input_)
    moments, left = _with_terms(input_.moments, [each for each in outages if each.slice is None])
    entries = [*_joined(moments, input_), *_shared(left)]
    for rank, name in enumerate(dict.fromkeys(each.measure for each in outages if each.slice is not None)):
        own = [each for each in outages if each.slice is not None and each.measure == name]
        entries += _episodes(name, own, noun, 5 - rank)
    return sorted(entries, key=lambda each: each.time)


def lasting(validation: Validation, input_: Overview) -> list[str]:
    """What is out of service when the logs end, without those that were shut down: names of partitions, or measures."""
    found = [each for each in _outages(validation, input_) if each.spell.lasting]
    return list(dict.fromkeys(clean(each.slice or words(each.measure)) for each in found))


def fitting(entries: Sequence[Happened], room: int) -> list[Line]:
    """The entries in the order of time; where there is no room, the heaviest of them."""
    # By place and not by entry: two entries may be equal.
    heaviest = sorted(range(len(entries)), key=lambda at: -entries[at].weight)[: max(room, 3)]
    kept = [entries[at] for at in sorted(heaviest)]
    return [Line(f"  {clock(each.time)[:8]}  {each.text}", each.tone) for each in kept]


def some(names: Sequence[str]) -> str:
    """As many names as a line of the first screen has room for."""
    return listed(names, NAMES_SHOWN)


def words(label: str) -> str:
    """A name of the spec as words."""
    return label.rpartition("/")[2].rpartition(".")[2].replace("_", " ")


# -------------------------------------------------------------------------------------------------------- moments


def _with_terms(moments: Sequence[Moment], shared: Sequence[_Outage]) -> tuple[list[Moment], list[_Outage]]:
    """The moments, those at which a controller came with the time without one before; and the outages that are left."""
    reported, left = list(moments), []
    for each in shared:
        near = [
            (abs(moment.time - each.spell.end), at)
            for at, moment in enumerate(reported)
            if moment.term and abs(moment.time - each.spell.end) <= ENDED_BY
        ]
        if each.spell.lasting or not near:
            left.append(each)
            continue
        _, at = min(near)
        # One that is too short is dropped: the controller's entry stands at its end anyway.
        if _is_worth_telling(each.spell):
            text = f"{reported[at].text}, after {_long(each.spell)} {words(each.measure)}"
            # Heavier: a controller that came after a gap is what an operator looks for.
            reported[at] = replace(reported[at], text=text, weight=reported[at].weight + 1)
    return reported, left


def _joined(moments: Sequence[Moment], input_: Overview) -> Iterator[Happened]:
    """The moments; those that differ in the name of a node only, and follow closely, are one, and so is the end."""
    end = input_.shut_down
    closing = [each for each in moments if end is not None and each.time >= end and each.of in ("shutdown", "gone")]
    alike: dict[str, tuple[float, list[str], int]] = {}
    for each in _with_restarts([each for each in moments if each not in closing]):
        node, _, rest = each.text.partition(" ")
        known = alike.get(rest)
        # From the first of them, and not from the last: many restarts in a row are no single moment.
        if known is not None and each.time - known[0] <= TOGETHER:
            known[1].append(node)
            continue
        if known is not None:
            yield _one(rest, known)
        alike[rest] = (each.time, [node], each.weight)
    for rest, known in alike.items():
        yield _one(rest, known)
    nodes = [clean(each.node) for each in closing if each.of == "shutdown"]
    if end is not None and nodes:
        yield Happened(end, f"the cluster is shut down: {some(list(dict.fromkeys(nodes)))}", 4.5)


def _with_restarts(moments: Sequence[Moment]) -> Iterator[Moment]:
    """The moments; the end of a process says when it starts again, where it does."""
    reported: set[int] = set()
    for at, each in enumerate(moments):
        if at in reported:
            continue
        if each.of in ("death", "shutdown"):
            next_of_node = (later for later in range(at + 1, len(moments)) if moments[later].node == each.node)
            # If the process ends once more before it starts, the start belongs to that end.
            start = next((later for later in next_of_node if moments[later].of in ("start", "death", "shutdown")), None)
            if start is not None and moments[start].of == "start":
                reported.add(start)
                yield replace(each, text=f"{each.text}; restarts at {clock(moments[start].time)[:8]}")
                continue
        yield each


def _one(rest: str, known: tuple[float, list[str], int]) -> Happened:
    time, nodes, weight = known
    different = [clean(node) for node in dict.fromkeys(nodes)]
    return Happened(
        time, f"{some(different)} {clean(rest if len(different) == 1 else _of_many(rest))}", weight + len(nodes) // 3
    )


def _of_many(rest: str) -> str:
    """What one node does, as several do it: ``start`` instead of ``starts``."""
    verb, space, others = rest.partition(" ")
    verb = {"is": "are", "has": "have"}.get(verb) or verb.removesuffix("s")
    return f"{verb}{space}{others.replace('its ', 'their ')}"


# -------------------------------------------------------------------------------------------------------- outages


def _outages(validation: Validation, input_: Overview) -> list[_Outage]:
    """All intervals, but for those that shutting the cluster down began."""
    end = input_.shut_down
    return [
        _Outage(each.measure, spell, each.slice)
        for each in validation.impact
        for spell in each.spells
        if not is_closing(spell, end)
    ]


def is_closing(spell: Spell, shut_down: float | None) -> bool:
    """Whether an interval begins because all brokers are shut down from that time on: it is no outage."""
    # Some time before: partitions lose their leaders while brokers stop one after the other.
    return spell.lasting and shut_down is not None and spell.begin >= shut_down - ENDED_BY


def _shared(outages: Sequence[_Outage]) -> Iterator[Happened]:
    """Outages of what all share, one by one; many short ones together."""
    for name in dict.fromkeys(each.measure for each in outages):
        own = [each.spell for each in outages if each.measure == name]
        if len(own) > NAMES_SHOWN:
            impact = Impact(name, "", None, tuple(own))
            yield Happened(own[0].begin, f"{words(name)}: {_total(impact)}, {len(own):,} times", 5, Tone.WARN)
        else:
            yield from (Happened(each.begin, f"{words(name)} {_for(each)}", 5, Tone.WARN) for each in own)


def _episodes(name: str, outages: Sequence[_Outage], noun: str, weight: int) -> Iterator[Happened]:
    """Outages of partitions, those together that overlap or follow closely. The longest episode weighs most."""
    episodes: list[list[_Outage]] = []
    end = 0.0
    for each in sorted(outages, key=lambda outage: outage.spell.begin):
        if episodes and each.spell.begin <= end + TOGETHER:
            episodes[-1].append(each)
            end = max(end, each.spell.end)
        else:
            episodes.append([each])
            end = each.spell.end
    longest = max((sum(each.spell.at_least for each in episode) for episode in episodes), default=0)
    for episode in episodes:
        worst = max(episode, key=lambda each: (each.spell.lasting, each.spell.at_most or each.spell.at_least))
        if not _is_worth_telling(worst.spell) and len(episodes) > 1:
            continue
        names = list(dict.fromkeys(clean(each.slice or "") for each in episode))
        total = sum(each.spell.at_least for each in episode)
        many = f": {plural(len(names), noun)}, the longest" if len(names) > 1 else ""
        text = f"{words(name)}{many} {_for(worst.spell)}: {some(names)}"
        heavy = weight if total == longest else weight - 1.5
        certain = worst.spell.lasting or worst.spell.at_least >= LEAST_SPELL
        yield Happened(episode[0].spell.begin, text, heavy if certain else BRIEF, Tone.WARN)


def _is_worth_telling(spell: Spell) -> bool:
    return spell.lasting or spell.at_most is None or spell.at_most >= LEAST_SPELL


def _for(spell: Spell) -> str:
    return f"for {_long(spell)}{', until the log ends' if spell.lasting else ''}"


def _long(spell: Spell) -> str:
    """How long an interval was, at least and at most."""
    least = duration_in_words(spell.at_least)
    if spell.at_most is None:
        return f"{least} or more"
    most = duration_in_words(spell.at_most)
    if spell.at_least < LEAST_SPELL <= spell.at_most:
        return f"up to {most}"
    number, unit = least.split(" ", 1)
    # `12 to 15 s`: a unit that both have is said once, but `1 h 5 min to 2 h 5 min` has two in each.
    is_shared = most.split(" ", 1)[1] == unit and " " not in unit
    return least if least == most else f"{number if is_shared else least} to {most}"


def _total(impact: Impact) -> str:
    least, most = duration_in_words(impact.at_least), impact.at_most
    return f"{least} or more" if most is None else f"{least} to {duration_in_words(most)}"
