"""Which lemmas are noticed: for each one, few lines that no beginning explains, and that one explains without the lemma.

Lines are drawn at random in a small model, of the kinds that read or write what the lemma speaks of. They are in order,
with as many hidden steps before each as the clause allows. In slices anything may happen between two lines. So a lemma
that is taken away, or weakened, is missed by the windows that are found here. Where none is found, others may imply it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.expressions.traverse import assignments, variables_of
from assay.checker.interpreter.values.domains import cardinality, domain
from assay.checker.interpreter.values.show import show_value
from assay.checker.symbolic.sat.clause_blocks import UnansweredError
from assay.cli.settings import load
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.decomposition import split
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.options import Options
from assay.traces.windows.numbers import probe_of
from assay.traces.windows.open_window import Allowance, OpenWindow, Order
from assay.traces.windows.slice_window import SliceWindow, lasting
from assay.traces.windows.template import Template
from assay.traces.windows.window_model import LogPart, WindowItem, WindowModel, hidden_calls, model_of_size

CLAUSES = (("kafka/cluster", "zookeeper_logs"), ("kafka/kraft/cluster", "kraft_logs"))
ELEMENTS, LARGEST = 2, 3
LINES = 1, 2, 2, 3
"""How many lines a window has; each number is as likely as it is frequent here."""
CONFLICTS = 20_000
MOST_VALUES = 20_000
"""A field with more values than this is not drawn."""


def lemma_lines(seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    """One line for each lemma; so many processor seconds are spent on one at most."""
    for spec, clause in CLAUSES:
        for of_slice in (False, True):
            part = _Part.of(spec, clause, of_slice=of_slice)
            with deep_recursion(part.log.loaded.kernel):
                yield from _told(part, spec, seconds, seed)


@dataclass
class _Part:
    """What all slices share, or one slice, in a small model."""

    log: LogPart
    window: WindowModel
    template: Template
    kinds: Mapping[str, list[k.TraceRule]]
    noticed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: str, clause: str, *, of_slice: bool) -> _Part:
        """The part of a clause."""
        loaded = load(spec, None, {})
        probe = probe_of(loaded, clause)
        assert probe.plan.slicing is not None
        divided = split(probe.kernel, probe.plan.slicing)
        plan = divided.plan_of_slices(probe.plan) if of_slice else divided.plan_of_shared(probe.plan)
        log = LogPart(loaded, plan, Options(), (), of_slice)
        single = {probe.plan.slicing.sort.name, "Cluster"}  # as in windows: another cluster explains what it must not
        names = {
            sort.name: tuple(f"{sort.name}-{at}" for at in range(1 if sort.name in single else ELEMENTS))
            for sort in probe.kernel.sorts
        }
        model, kernel = model_of_size(log, names, {each.name: LARGEST for each in probe.kernel.parameters if each.size})
        every = frozenset(name for each in names.values() for name in each)
        calls = hidden_calls(every, kernel, model, names, lossy=False)
        hidden = () if of_slice else tuple(each for each in calls if not (each.lost or each.unlogged))
        kinds: dict[str, list[k.TraceRule]] = {}
        for rule in model.plan.rules:
            kinds.setdefault(rule.event, []).append(rule)
        return cls(log, WindowModel(model, kernel, (), hidden, names, {}, probe), Template(kernel), kinds)

    def touching(self, names: frozenset[str]) -> list[str]:
        """The kinds of lines whose rules read or write one of these variables."""
        actions = {each.name: each for each in self.window.kernel.actions}

        def touched(rule: k.TraceRule) -> Iterator[str]:
            for expr in (rule.then, rule.observe):
                yield from () if expr is None else variables_of(expr)
            for call in (call for step in rule.steps for call in step):
                yield from variables_of(actions[call.action])
                yield from (each.variable for each in assignments(actions[call.action].body))

        return [kind for kind, rules in self.kinds.items() if any(not names.isdisjoint(touched(r)) for r in rules)]

    def line(self, rng: random.Random, kind: str, at: int) -> Iterator[WindowItem]:
        """What the rules read of a line with the fields of one of them."""
        fields = {each.field: each.binder.type for each in rng.choice(self.kinds[kind]).fields}
        if any(cardinality(each) > MOST_VALUES for each in fields.values()):
            return
        values = {name: rng.choice(list(domain(type_))) for name, type_ in fields.items()}
        record = LogRecord(LogPosition("drawn", at, 0), at, "INFO", "drawn", None, kind)
        event = Event(kind, kind, MappingProxyType({}), record, ProcessRun("drawn", 1))
        for rule in self.kinds[kind]:
            if any(fields.get(each.field) != each.binder.type for each in rule.fields):
                continue
            bound: dict[str, Value] = {each.binder.name: values[each.field] for each in rule.fields}
            if rule.condition is None or self.window.model.applies(rule, bound):
                named = tuple((each.field, values[each.field]) for each in rule.fields)
                seen = Observation(event, rule, bound, named)
                yield WindowItem(OrderedObservation(at, seen, 0, at, at, at, at), seen)

    def asked(self, items: Sequence[WindowItem]) -> OpenWindow:
        """The question whether a beginning explains these lines."""
        window = self.window.of(tuple(items))
        order = Order(tuple(tuple(range(at)) for at in range(len(items))))
        if self.log.of_slice:
            units = [(at,) for at in range(len(items))]
            return SliceWindow(self.template, window, units, order, lasting(self.log), CONFLICTS)
        return OpenWindow(self.template, window, order, Allowance(window.model.plan.hidden_limit), CONFLICTS)

    def note(self, items: Sequence[WindowItem]) -> None:
        """Note the lemmas without which a beginning explains these lines, if none does with them."""
        asked = self.asked(items)
        try:
            if asked.is_explained():
                return
            # What is outside of the unsatisfiable core is not needed for the contradiction: it stays without such a
            # lemma.
            core = set(asked.formula.core())
            for name, switch in asked.parts.properties.items():
                others = [each for each in asked.asked if each != switch]
                if switch in core and name not in self.noticed and asked.formula.solve(others):
                    self.noticed[name] = _words(items)
        except UnansweredError:
            return
        finally:
            asked.close()


def _told(part: _Part, spec: str, seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    lemmas = [each for each in part.window.kernel.properties if each.kind in ("invariant", "lemma")]
    for lemma in lemmas:
        rng = random.Random(f"{seed}/{spec}/{lemma.name}")
        kinds, begun, tries = part.touching(variables_of(lemma)), time.process_time(), 0
        while kinds and lemma.name not in part.noticed and time.process_time() - begun < seconds:
            tries += 1
            drawn = [item for at in range(rng.choice(LINES)) for item in part.line(rng, rng.choice(kinds), at)]
            if drawn:
                part.note(drawn)
        yield {
            "spec": spec,
            "part": "slice" if part.log.of_slice else "shared",
            "kind": lemma.kind,
            "lemma": lemma.name,
            "noticed_by": part.noticed.get(lemma.name),
            "windows": tries,
            "cpu_s": round(time.process_time() - begun, 1),
        }


def _words(items: Sequence[WindowItem]) -> str:
    lines: dict[int, dict[str, str]] = {}
    for each in items:
        types = {one.field: one.binder.type for one in each.rule.fields}
        stated = {name: show_value(value, types[name]) for name, value in each.observation.values}
        lines.setdefault(each.item.index, {"": each.observation.event.kind}).update(stated)
    return "; ".join(
        f"{said.pop('')}({', '.join(f'{name} {value}' for name, value in said.items())})" for said in lines.values()
    )
