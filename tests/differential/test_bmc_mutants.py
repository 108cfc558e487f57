"""Bounded search finds in the mutants of symmetric specs what breadth-first search finds, though it looks at fewer runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.checker.interpreter.compiled_model import Model
from assay.checker.mutation.mutants import mutants, mutated
from assay.checker.symbolic.bounded.symmetry_breaking import interchangeable
from assay.checker.symbolic.encode.initial import initial_states
from assay.grammar.kernel import Kernel
from assay.grammar.load import Loaded, load_spec

from .test_bmc import agree

LEVELS = 8
SPECS = Path(__file__).parents[2] / "spec"


def loaded(name: str) -> Loaded:
    return load_spec(SPECS / f"{name}.assay")


def safety(kernel: Kernel) -> Kernel:
    """The kernel without its temporal properties, at whose violation a bounded search would end."""
    return replace(kernel, properties=tuple(each for each in kernel.properties if each.kind != "temporal"))


def changed(name: str) -> list[Kernel]:
    """The spec and its mutants."""
    found = loaded(name)
    own = mutants(found.kernel, found.sources, frozenset(found.sources))
    return [safety(found.kernel), *(safety(mutated(found.kernel, each)) for each in own)]


def broken(kernel: Kernel) -> frozenset[str]:
    """The sorts whose elements are used in their order only."""
    return interchangeable(kernel, safety(kernel).properties, initial_states(Model(kernel))[0])


@pytest.mark.parametrize(
    ("spec", "sorts"),
    [
        ("classics/two_phase", {"ResourceManager"}),
        ("kafka/claim", {"Process"}),
        ("kafka/broker_id", {"Process"}),
    ],
)
def test_the_symmetry_of_these_specs_is_used(spec: str, sorts: set[str]) -> None:
    assert broken(loaded(spec).kernel) == sorts


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["classics/two_phase", "kafka/claim"])
def test_bounded_search_agrees_on_mutants(spec: str) -> None:
    assert all(agree(kernel, LEVELS) for kernel in changed(spec))


@pytest.mark.parametrize("spec", ["classics/two_phase", "kafka/claim"])
def test_bounded_search_agrees_on_some_mutants(spec: str) -> None:
    assert all(agree(kernel, LEVELS) for kernel in changed(spec)[::6])


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["classics/transaction_commit", "kafka/broker_id", "kafka/controller_cache"])
def test_bounded_search_agrees_on_more_mutants(spec: str) -> None:
    assert all(agree(kernel, LEVELS) for kernel in changed(spec))
