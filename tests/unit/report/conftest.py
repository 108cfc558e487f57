"""A small kernel made by hand, and reports about it, so that presentation is tested without any engine."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from assay.checker.report import Coverage, PropertyResult, Report, State, Statistics, Step, Trace
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import (
    Action,
    Assign,
    BoundParameter,
    Const,
    Guard,
    Init,
    Kernel,
    Local,
    Parameter,
    Variable,
    atom_domain,
    true,
)
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, Value, VariantValue

BROKER = t.Sort("Broker", ("b1", "b2"), symmetric=True)
EPOCH = t.RangeType(0, 3)
ROLE = t.EnumType("Role", (t.VariantType("Standby", ()), t.VariantType("Active", (t.FieldType("epoch", EPOCH),))))
ROLES = t.MapType(t.AtomType(BROKER), ROLE)
B1, B2 = Atom("Broker", 0, "b1"), Atom("Broker", 1, "b2")
STANDBY = VariantValue("Standby", ())
PLACE = Span("lamp.assay", 12, 5, 12, 20)


def active(epoch: int) -> Value:
    return VariantValue("Active", (epoch,))


def state(first: Value, second: Value, live: frozenset[Value]) -> State:
    return (FrozenMap({B1: first, B2: second}), live)


@dataclass(frozen=True)
class Sample:
    """The kernel with a run of two steps that violates ``one_active``."""

    kernel: Kernel
    trace: Trace

    def report(self, *properties: PropertyResult, **more: object) -> Report:
        given = {"statistics": Statistics(1204, 5000, 7, 1.25), "coverage": Coverage(), **more}
        return Report(self.kernel, "reference", properties, **given)  # type: ignore[arg-type]


@pytest.fixture
def sample() -> Sample:
    binder = Local(t.AtomType(BROKER), "b")
    assign = Assign("elect.role", "role", (), Const(ROLES, FrozenMap()), ROLES)
    elect = Action(
        "elect", (Parameter(binder, atom_domain(BROKER)),), (Guard("when", "vacant", true()), assign), None, None
    )
    live = t.SetType(t.AtomType(BROKER))
    kernel = Kernel(
        name="kafka.sample",
        model="small",
        sorts=(BROKER,),
        parameters=(BoundParameter("Broker", BROKER, size=False), BoundParameter("Fence", value=False, size=False)),
        variables=(Variable("role", ROLES, ghost=False), Variable("live", live, ghost=False)),
        init=Init((), ()),
        actions=(elect,),
        next=("elect",),
        properties=(),
        terminal=(),
        scenarios=(),
        accepted_bounds=frozenset({"epochs"}),
        shows=(),
        traces=(),
    )
    steps = (
        Step(None, (), (), state(STANDBY, STANDBY, frozenset({B1}))),
        Step("elect", (("b", B1),), (), state(active(1), STANDBY, frozenset({B1, B2}))),
        Step("elect", (("b", B2),), (), state(active(1), active(1), frozenset({B2}))),
    )
    return Sample(kernel, Trace(steps))
