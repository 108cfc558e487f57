"""What the page shows to who does not know the models: ``lanes.toml`` as values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, Field
from assay.traces.spec_selection import selectable_specs


@dataclass(frozen=True, slots=True)
class RequestArrow:
    """A line about a request: the number of its event, the name of the other node, and whether that one has sent it."""

    event: int
    other: str
    received: bool


def band_styles(kernel: Kernel) -> Mapping[str, str] | None:
    """How the bands of a bundled model are drawn, by the last part of the variable's name. None for another model, of
    which every band is shown.
    """
    styles: Mapping[str, str] = _rules()["bands"]
    return styles if kernel.name.replace(".", "/") in selectable_specs() else None


def band_names() -> Mapping[str, str]:
    """What bands are called, by the last part of the variable's name."""
    names: Mapping[str, str] = _rules()["names"]
    return names


def tones() -> Mapping[str, str]:
    """What values mean to an operator, by the word before their bracket."""
    found: Mapping[str, str] = _rules()["tones"]
    return found


def requests(events: Iterable[Event], nodes: Mapping[int, Iterable[str]]) -> Iterator[RequestArrow]:
    """The requests that lines tell of. ``nodes`` are the nodes with an id."""
    rules = {kind: rule for rule in _rules()["request"] for kind in rule["kinds"]}
    for number, event in enumerate(events):
        rule = rules.get(event.kind)
        if rule is None:
            continue
        value = event.fields.get(rule.get("from") or rule["to"])
        for other in _others(value, nodes, event.run.node):
            yield RequestArrow(number, other, "from" in rule)


def _others(value: Field, nodes: Mapping[int, Iterable[str]], own: str) -> Iterator[str]:
    """For each id in a field the first node that has it; a node sends itself nothing over the network."""
    for each in value if isinstance(value, tuple) else (value,):
        named = [name for name in nodes.get(each, ()) if name != own] if isinstance(each, int) else []
        yield from named[:1]


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads((files("assay.report.logs.html") / "lanes.toml").read_text(encoding="utf-8"))
