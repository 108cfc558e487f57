"""Small models written as text, and the reference checker's answer about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.values.show import show_value
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report, Trace
from assay.checker.results.show_instance import show_instance
from assay.grammar.kernel import Kernel
from assay.grammar.load import Loaded, load_text

DECLARATIONS = """
param Node: set = {a, b, c}
enum Mode: Idle, Busy(since: 0 .. 3), Lost(by: Node, since: 0 .. 3)
record Pair: left: 0 .. 3, right: bool
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A report with what tests ask of it."""

    report: Report
    loaded: Loaded

    def result(self, name: str) -> PropertyResult:
        return next(each for each in self.report.properties if each.name == name)

    def outcome(self, name: str) -> Outcome:
        return self.result(name).outcome

    def steps(self, name: str) -> list[str]:
        """The action instances of the trace of a property."""
        trace = self.result(name).trace
        assert trace is not None
        return steps_of(trace, self.loaded.kernel)


def steps_of(trace: Trace, kernel: Kernel) -> list[str]:
    return [
        show_instance(kernel.action(step.action), [value for _, value in step.arguments], step.picks)
        for step in trace.steps
        if step.action is not None
    ]


Run = Callable[..., Answer]


@pytest.fixture(scope="session")
def load() -> Callable[..., Loaded]:
    """Load a spec given as text."""
    return lambda text, **more: load_text(dedent(text), **more)


@pytest.fixture(scope="session")
def run(load: Callable[..., Loaded]) -> Run:
    """Check a spec given as text; further arguments are search options."""

    def run_text(text: str, **options: Any) -> Answer:
        loaded = load(text)
        return Answer(check(loaded.kernel, SearchOptions(**options), loaded.sources), loaded)

    return run_text


@pytest.fixture(scope="session")
def value(load: Callable[..., Loaded]) -> Callable[[str, str], str]:
    """The value, as printed, of an expression of a type."""

    def value_of(type_: str, expression: str) -> str:
        loaded = load(f"{DECLARATIONS}\nstate:\n    result: {type_} = {expression}\n")
        (outcome,) = Model(loaded.kernel).init.outcomes()
        assert isinstance(outcome, Successor), outcome
        return show_value(outcome.state[0], loaded.kernel.variables[0].type)

    return value_of
