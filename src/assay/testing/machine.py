"""A state machine of Hypothesis made from a spec: it looks for a run in which the code departs from the model, and
shrinks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from assay.api.input_error import raises_input_error
from assay.api.spec import SpecLike, load
from assay.testing.model_run import DepartureError, ModelCall, ModelCoverage, ModelRun, shortened

LIMITS = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),  # `explain` would trace each line of the model
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


class ModelMachine(RuleBasedStateMachine):
    """The base of the machines: each step is a call of the model, drawn from those that there are."""

    begin: Callable[[], ModelRun]
    coverage: ModelCoverage

    def __init__(self) -> None:
        super().__init__()
        self._run = type(self).begin()
        self._calls: list[ModelCall] | None = None

    def _next_calls(self) -> list[ModelCall]:
        # The precondition and the rule ask in the same state: its calls are listed once.
        if self._calls is None:
            self._calls = self._run.calls()
        return self._calls

    @precondition(lambda self: bool(self._next_calls()))
    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Perform one call: an action, then one of its instances, so that those with many do not crowd out others."""
        calls = self._next_calls()
        action = data.draw(st.sampled_from(list(dict.fromkeys(each.action for each in calls))))
        call = data.draw(st.sampled_from([each for each in calls if each.action == action]))
        self._calls = None
        self._run.perform(call)

    def teardown(self) -> None:
        """End the run."""
        self._run.close()


@raises_input_error
def state_machine(spec: SpecLike, driver: Callable[[], Any]) -> type[ModelMachine]:
    """A state machine that drives what ``driver`` makes, anew for each run (``ModelRun`` says what it has).

    ``state_machine(…).TestCase`` is a test for pytest and unittest; its ``coverage`` says what was exercised. Raises
    ``InputError`` for a spec with mistakes.
    """
    stepper, coverage = load(spec).stepper(), ModelCoverage()

    def begin() -> ModelRun:
        return ModelRun(stepper, driver(), coverage)

    parts = {"begin": staticmethod(begin), "coverage": coverage}
    made = cast("type[ModelMachine]", type("Machine", (ModelMachine,), parts))
    made.TestCase.settings = LIMITS
    return made


def run(
    spec: SpecLike, driver: Callable[[], Any], *, runs: int = 100, steps: int = 30, settled: int | None = None
) -> ModelCoverage:
    """Make so many runs of up to so many steps, and return what they exercised. Raises ``DepartureError`` with the
    shortest run that was found in which the code departs from the model.

    With ``settled`` it ends earlier, when so many runs in a row have exercised nothing new.
    """
    machine, left = state_machine(spec, driver), runs
    while left > 0:
        some, before = min(left, settled or left), machine.coverage.exercised
        limits = settings(LIMITS, max_examples=some, stateful_step_count=steps, database=None)
        if settled is not None:
            limits = settings(limits, derandomize=False)  # else each turn would make the same runs
        try:
            run_state_machine_as_test(machine, settings=limits)
        except DepartureError as error:
            raise shortened(machine.begin, error) from None
        left -= some
        if machine.coverage.exercised == before:
            break
    return machine.coverage
