"""How much a verdict is worth: copies of the log with one field changed, and how many of them are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from assay.checker.evaluate.show import show_value
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.binding import OF_THE_FILE, Observation, changed
from assay.traces.conduct import Accepted, Options, Rejected, Undecided, conclude
from assay.traces.order import Item
from assay.traces.rewrite import alternatives
from assay.traces.search.explore import Search
from assay.traces.search.model import Model
from assay.traces.validation import KillRate, Repair


def kill_rate(search: Search, options: Options) -> KillRate:
    """The share of one-field mutants of the used events that are rejected; the same for the same seed."""
    random = Random(options.seed)
    fields = ((item, field) for item in search.frontier.order.items for field in item.observation.rule.fields)
    sites = [(item, field) for item, field in fields if field.field not in OF_THE_FILE]
    tried = rejected = undecided = 0
    survivors: list[Repair] = []
    for item, field, mutant in _sample(random, search.model, sites, options.mutants):
        tried += 1
        order = search.frontier.order
        items = order.streams[item.stream].items
        mutated = replace(item, observation=mutant)
        changed_log = order.with_items(item.stream, (*items[: item.position], mutated, *items[item.position + 1 :]))
        other = search.with_change(changed_log, mutated)
        match conclude(other, other.begin(other.frontier.start), options):
            case Rejected():
                rejected += 1
            case Undecided():
                undecided += 1
            case Accepted():
                survivors.append(_description(item, field, mutant))
    return KillRate(tried, rejected, undecided, tuple(survivors))


def _sample(
    random: Random, model: Model, sites: list[tuple[Item, k.EventField]], wanted: int
) -> Iterator[tuple[Item, k.EventField, Observation]]:
    """That many sites with what the line might state instead, no site twice; fewer if there are not so many."""
    for item, field in random.sample(sites, len(sites)):
        if wanted == 0:
            return
        others = alternatives(dict(item.observation.values)[field.field], field.binder.type)
        mutants = [mutant for mutant in (_mutated(item, field, other) for other in others) if model.speaks_of(mutant)]
        if mutants:
            wanted -= 1
            yield item, field, random.choice(mutants)


def _mutated(item: Item, field: k.EventField, other: Value) -> Observation:
    return changed(item.observation, field.field, other, show_value(other, field.binder.type))


def _description(item: Item, field: k.EventField, mutant: Observation) -> Repair:
    values = (dict(seen.values)[field.field] for seen in (item.observation, mutant))
    old, new = (show_value(value, field.binder.type) for value in values)
    text = f"`{field.field}` is {new} instead of {old}"
    return Repair("change", text, item.observation.event, field.field, old, new)
