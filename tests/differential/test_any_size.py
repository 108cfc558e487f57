"""What is proved for any size of the symmetric sets of a random kernel no search of a smaller or larger one refutes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from itertools import product
from random import Random
from typing import Any

import pytest
from tests.stages import rounds

from assay.checker.engines.reference_engine import check
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.symbolic.parametric.prove import prove_every_size
from assay.checker.symbolic.smt.transition import any_state
from assay.checker.symbolic.smt.values import Domain, OutsideTheoryError
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import types as t

from .random_kernel import Maker, random_kernel
from .random_types import TYPES

SETS = ("Node", "Site")
SIZES = tuple(product((1, 2, 4), (1, 3)))
"""The numbers of elements that are searched; the small model that proofs begin with has three and two."""
SEARCH = SearchOptions(max_states=200, check_deadlock=False, keep_going=True)
PROOF = SearchOptions(timeout=4)


def is_said(of: t.Type) -> bool:
    """Whether the second encoding has values of the type where the sets are open."""
    try:
        any_state(Domain(frozenset(SETS)), (k.Variable("x", of, ghost=False),), "")
    except OutsideTheoryError:
        return False
    return True


SAID = tuple(of for of in TYPES if is_said(of))


def resized(part: Any, sizes: dict[str, int]) -> Any:
    """The same with so many elements in the sets."""
    if isinstance(part, t.Sort):
        return replace(part, elements=tuple(f"{part.name.lower()}{at}" for at in range(sizes[part.name])))
    if type(part) is tuple:
        return tuple(resized(each, sizes) for each in part)
    if not is_dataclass(part) or isinstance(part, type | Span):
        return part
    return replace(part, **{f.name: resized(getattr(part, f.name), sizes) for f in fields(part) if f.name != "span"})


def asked(seed: int) -> k.Kernel:
    """A random kernel that names no element, with invariants and transitions of which some are true."""
    random = Random(seed)
    kernel = random_kernel(random, 2, symmetric=True, types=SAID)
    maker = Maker(random, symmetric=True)
    maker.variables = list(kernel.variables)
    properties = []
    for at in range(6):
        condition = maker.expr(t.BOOL, 2)
        old = k.Old(t.BOOL, maker.expr(t.BOOL, 2))
        properties.append(_property(f"i{at}", "invariant", condition))
        properties.append(_property(f"n{at}", "invariant", k.Not(t.BOOL, condition)))
        properties.append(_property(f"t{at}", "transition", k.Logic(t.BOOL, "implies", (old, condition))))
    return replace(kernel, properties=tuple(properties), terminal=())


def _property(name: str, kind: Any, condition: k.Expr) -> k.Property:
    return k.Property(name, kind, (k.Conjunct("", condition),), None)


def agree(seed: int) -> int:
    """Assert that nothing that is proved is violated; how many properties were proved that depend on the state."""
    kernel = asked(seed)
    proofs = prove_every_size(kernel, SETS, PROOF)
    proved = {p.name for p in proofs.report.properties if p.outcome in {Outcome.HOLDS, Outcome.UP_TO_BOUND}}
    for sizes in SIZES if proved else ():
        other = resized(kernel, dict(zip(SETS, sizes, strict=True)))
        with deep_recursion(other):
            report = check(other, SEARCH)
        wrong = {p.name for p in report.properties if p.outcome is Outcome.VIOLATED} & proved
        assert not wrong, (seed, sizes, wrong)
    return len(proved)


@pytest.mark.slow
@rounds(2, 4)
def test_no_search_refutes_what_is_proved_for_any_size(rounds: int) -> None:
    assert sum(agree(seed) for seed in range(rounds)) >= rounds


@pytest.mark.slow
def test_no_search_refutes_what_is_proved_for_any_size_of_many() -> None:
    assert sum(agree(seed) for seed in range(100, 130)) >= 40
