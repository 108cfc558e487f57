"""How much a verdict is worth: copies of the log with one field changed, and how many of them are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from assay.checker.evaluate.show import show_value
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.binding import changed
from assay.traces.conduct import Accepted, Options, Rejected, Undecided, conclude
from assay.traces.order import Item
from assay.traces.rewrite import alternatives
from assay.traces.search.explore import Search
from assay.traces.validation import KillRate, Repair


def kill_rate(search: Search, options: Options) -> KillRate:
    """The share of one-field mutants of the used events that are rejected; the same for the same seed."""
    random = Random(options.seed)
    sites = [(item, field) for item in search.frontier.order.items for field in item.observation.rule.fields]
    tried = rejected = undecided = 0
    survivors: list[Repair] = []
    for item, field, other in _sample(random, sites, options.mutants):
        tried += 1
        items = search.frontier.order.streams[item.stream].items
        mutated = replace(item, observation=changed(item.observation, field.field, other, _shown(other, field)))
        order = search.frontier.order.with_items(
            item.stream, (*items[: item.position], mutated, *items[item.position + 1 :])
        )
        mutant = search.with_order(order)
        match conclude(mutant, mutant.begin(mutant.frontier.start), options):
            case Rejected():
                rejected += 1
            case Undecided():
                undecided += 1
            case Accepted():
                survivors.append(_description(item, field, other))
    return KillRate(tried, rejected, undecided, tuple(survivors))


def _sample(
    random: Random, sites: list[tuple[Item, k.EventField]], wanted: int
) -> Iterator[tuple[Item, k.EventField, Value]]:
    """That many sites and other values, no site twice; fewer if there are not so many."""
    for item, field in random.sample(sites, len(sites)):
        if wanted == 0:
            return
        others = alternatives(dict(item.observation.values)[field.field], field.binder.type)
        if others:
            wanted -= 1
            yield item, field, random.choice(others)


def _shown(value: Value, field: k.EventField) -> str:
    return show_value(value, field.binder.type)


def _description(item: Item, field: k.EventField, other: Value) -> Repair:
    old, new = _shown(dict(item.observation.values)[field.field], field), _shown(other, field)
    text = f"`{field.field}` is {new} instead of {old}"
    return Repair("change", text, item.observation.event, field.field, old, new)
