"""One run of real code beside its model: which calls there are, and whether the code does what the model does."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from assay.checker.interpreter.values.show import show_value
from assay.checker.report import State
from assay.checker.saved_traces.json_values import NotOfType, from_json, to_json
from assay.checker.stepper.stepper import Stepper, Wanted
from assay.checker.stepper.steps import EvaluatedExpression, PossibleStep, RefusedGuard
from assay.grammar.kernel import types as t
from assay.grammar.values import Value
from assay.testing.supervised import HangsError, child_processes, command_line, within

MOST_CALLS = 1_000
"""Of more calls in a state, the first ones in the order of the model are tried."""


class Refused(Exception):  # noqa: N818 - it is an answer
    """Raised by a driver where the code refuses what it is asked to do."""


class DepartureError(AssertionError):
    """The code did something else than the model; the text has the run that leads there, ``calls`` its calls alone."""

    def __init__(self, text: str, calls: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.calls = tuple(calls)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """An instance of an action: ``steps`` are the model's, by what they pick; without one the model refuses the call by
    ``guards``.
    """

    action: str
    arguments: tuple[tuple[str, Value], ...]
    text: str
    steps: tuple[PossibleStep, ...] = ()
    guards: tuple[RefusedGuard, ...] = ()

    def __repr__(self) -> str:
        return self.text if self.steps else f"{self.text}, which is refused"


@dataclass(slots=True)
class ModelCoverage:
    """What runs exercised: how often an action was taken, how often a guard alone refused one, and which actions have no
    method.
    """

    taken: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    undriven: tuple[str, ...] = ()

    @property
    def exercised(self) -> frozenset[str | tuple[str, str]]:
        """The actions that were taken, and the guards that refused one alone."""
        return frozenset((*(action for action, count in self.taken.items() if count), *self.refused))

    def lines(self) -> Iterator[str]:
        """A line for each action."""
        for action, count in self.taken.items():
            labels = [f"{number} by {label}" for (of, label), number in self.refused.items() if of == action]
            refused = f"; refused {', '.join(labels)}" if labels else ""
            yield f"{action}: {f'taken {count:,} times' if count else 'never taken'}{refused}"
        yield from (f"{action}: has no method" for action in self.undriven)

    def __str__(self) -> str:
        return "\n".join(self.lines())


class ModelRun:
    """The code that ``driver`` calls, beside the model in one of its initial states.

    A driver has a method for each action that it can make happen, called by the names of the parameters. It may have

    * ``refuses``: the actions that the code itself refuses, by ``Refused``, where the model does. Others are only called
      where the model allows them;
    * ``answers``: for an action the expression whose value after the step its method returns;
    * ``observe()``: a value for each of some expressions over the state;
    * ``close()``, called at the end;
    * ``patience``: the seconds that a call may take (10). Where the code hangs, it departs from the model at that step.
      With ``keeps_patience`` the driver sees to that itself;
    * ``leaves_processes``: true if processes that a call starts may outlive ``close()``. Otherwise they are a departure,
      and are killed (Linux).

    Values are those of JSON: names of elements, numbers, lists or sets, dictionaries for records and maps.
    """

    def __init__(self, stepper: Stepper, driver: Any, coverage: ModelCoverage | None = None) -> None:
        self.driver = driver
        self.coverage = coverage or ModelCoverage()
        self._stepper = stepper
        self._stepper.begin()
        self._types = {
            each.node.name: tuple(p.binder.type for p in each.node.parameters) for each in self._stepper.model.steps
        }
        # `part.grow`, of a module that the spec uses, is the method `part_grow`.
        self._methods = {name: getattr(driver, name.replace(".", "_"), None) for name in self._types}
        self.coverage.undriven = tuple(name for name, method in self._methods.items() if method is None)
        for name, method in self._methods.items():
            if method is not None:
                # At 0 from the start, so that the coverage names an action that no run takes.
                self.coverage.taken.setdefault(name, 0)
        self._answers: Mapping[str, str] = getattr(driver, "answers", {})
        self._said: list[str] = []
        self._called: list[str] = []
        self._patience: float | None = (
            None if getattr(driver, "keeps_patience", False) else getattr(driver, "patience", 10.0)
        )
        self._started: dict[int, int] = {}
        try:
            self._compare_state("in the initial state")
        except BaseException:
            # Nobody has the run yet, and so nobody else closes it: a program that the driver started would be left.
            with suppress(DepartureError):
                self.close()
            raise

    # ---------------------------------------------------------------------------------------------------- calls

    def calls(self) -> list[ModelCall]:
        """The calls in this state: those that the model allows, then those that the code has to refuse."""
        driven = [name for name, method in self._methods.items() if method is not None]
        allowed = [each for name in driven for each in self._allowed(name)]
        refusing = frozenset(getattr(self.driver, "refuses", ()))
        return [*allowed, *(each for name in driven if name in refusing for each in self._refused(name))][:MOST_CALLS]

    def call(self, text: str, *, refused: bool = False) -> ModelCall | None:
        """The call ``acquire(a)``, which the model allows or, with ``refused``, refuses; None if there is none here."""
        action, wanted = self._stepper.read_call(text)
        if self._methods[action] is None:
            return None
        return next(iter(self._refused(action, wanted) if refused else self._allowed(action, wanted)), None)

    def _allowed(self, action: str, wanted: Wanted | None = None) -> list[ModelCall]:
        found: dict[tuple[tuple[str, Value], ...], list[PossibleStep]] = {}
        for step in islice(self._stepper.possible(action, wanted), MOST_CALLS):
            # Steps that differ only in what they pick are one call, for the code chooses among them.
            found.setdefault(step.step.arguments, []).append(step)
        return [ModelCall(action, given, _call_of(steps[0].text), tuple(steps)) for given, steps in found.items()]

    def _refused(self, action: str, wanted: Wanted | None = None) -> Iterator[ModelCall]:
        for each in islice(self._stepper.refused(action, wanted), MOST_CALLS):
            # A call that a bound refuses too is left out: bounds limit the model, and the code need not know of them.
            if each.guards and all(guard.kind == "guard" for guard in each.guards):
                yield ModelCall(action, each.arguments, each.text, (), each.guards)

    # --------------------------------------------------------------------------------------------------- a step

    def perform(self, call: ModelCall) -> None:
        """Call the code, and compare. Raises ``DepartureError``."""
        self._said.append(call.text)
        self._called.append(call.text)
        types = self._types[call.action]
        given = {name: to_json(value, type_) for (name, value), type_ in zip(call.arguments, types, strict=True)}
        method = self._methods[call.action]
        assert method is not None, "only driven actions are called"
        before = child_processes()
        try:
            answer = self._supervised("the code", partial(method, **given))
        except Refused:
            self._refused_by_code(call)
            return
        finally:
            self._started |= {number: len(self._said) for number in child_processes() - before}
        if not call.steps:
            rules = "; ".join(f"guard {guard.label} is false: {guard.text}  ({guard.span})" for guard in call.guards)
            raise self._departure(f"the code did it, and the model refuses it: {rules}")
        self.coverage.taken[call.action] += 1
        self._go_on(call, answer)

    def _refused_by_code(self, call: ModelCall) -> None:
        if call.steps:
            raise self._departure("the code refused it, and the model allows it")
        # Of several guards that are false none is shown to be needed: the code may check one of them alone.
        if len(call.guards) == 1:
            self.coverage.refused[call.action, call.guards[0].label] += 1
        self._said[-1] += " is refused"
        self._compare_state("after it was refused")

    def _go_on(self, call: ModelCall, answer: Any) -> None:
        """Take the step of the model that agrees with the answer and with what is observed."""
        wrong: list[str] = []
        fitting: dict[State, PossibleStep] = {}
        seen = self._observed()
        for step in call.steps:
            self._stepper.take(step)
            found = self._differences(seen)
            if call.action in self._answers:
                expression = self._answers[call.action]
                found = [*_difference("the answer", answer, self._stepper.evaluate(expression), expression), *found]
            # Each step is tried from the same state. Which one was taken is known only when all were compared.
            self._stepper.undo()
            wrong += found
            if not found:
                # By its state: steps that pick differently and lead to one state need not be told apart.
                fitting.setdefault(step.state, step)
        if not fitting:
            raise self._departure("; ".join(dict.fromkeys(wrong)))
        if len(fitting) > 1:
            steps = ", ".join(each.text for each in fitting.values())
            raise self._departure(
                f"what is observed leaves open which step it was: {steps}; let `observe` tell them apart"
            )
        (step,) = fitting.values()
        self._said[-1] = step.text
        self._stepper.take(step)

    def _compare_state(self, when: str) -> None:
        wrong = self._differences(self._observed())
        if wrong:
            raise self._departure(f"{when}: {'; '.join(wrong)}")

    def _observed(self) -> Mapping[str, Any]:
        observe = getattr(self.driver, "observe", None)
        seen = {} if observe is None else self._supervised("`observe`", observe)
        if not isinstance(seen, Mapping):
            raise self._departure(f"`observe` returned {seen!r}, and not a value for each of some expressions")
        return seen

    def _supervised(self, what: str, call: Callable[[], Any]) -> Any:
        """The answer of the driver; what it raises, and a call without end, departs from the model."""
        try:
            with within(self._patience):
                return call()
        except Refused:
            raise
        except DepartureError as error:
            raise self._departure(str(error)) from error
        except HangsError:
            raise self._departure(f"{what} did not return within {self._patience:g} s") from None
        except (Exception, SystemExit) as error:
            raise self._departure(f"{what} raised {type(error).__name__}: {error}") from error

    def _differences(self, seen: Mapping[str, Any]) -> list[str]:
        return [
            text
            for expression, value in seen.items()
            for text in _difference(f"`{expression}`", value, self._stepper.evaluate(expression), expression)
        ]

    def _departure(self, why: str) -> DepartureError:
        steps = "".join(f"\n  {number}. {text}" for number, text in enumerate(self._said, 1))
        text = f"the code departs from the model: {why}{f'{chr(10)}the run:{steps}' if steps else ''}"
        return DepartureError(text, self._called)

    def close(self) -> None:
        """End the run. Raises ``DepartureError`` where the driver cannot be closed, or processes are left."""
        close = getattr(self.driver, "close", None)
        if close is not None:
            self._supervised("`close`", close)
        if getattr(self.driver, "leaves_processes", False):
            return
        commands = {number: command_line(number) for number in self._started}
        left = {number: text for number, text in commands.items() if text is not None}
        for number in left:
            os.kill(number, signal.SIGKILL)
            # Waited for, or it would count as a child until this process ends.
            os.waitpid(number, 0)
        if left:
            steps = "; ".join(f"step {self._started[number]} started `{text}`" for number, text in left.items())
            raise self._departure(f"the code left processes running after `close`: {steps}")


def _call_of(text: str) -> str:
    return text.partition(" with ")[0]


def _difference(what: str, value: Any, expected: EvaluatedExpression, expression: str) -> list[str]:
    """What is wrong with a value of the code, in a sentence; nothing if it is the model's."""
    if expected.undefined is not None:
        return [f"`{expression}` has no value in the model: {expected.undefined}"]
    try:
        read = from_json(_as_json(value, expected.type), expected.type)
    except NotOfType:
        return [f"{what} is {value!r} in the code, and {expected.shown} in the model"]
    if read == expected.value:
        return []
    return [f"{what} is {show_value(read, expected.type)} in the code, and {expected.shown} in the model"]


def _as_json(value: Any, type_: t.Type) -> Any:
    """A Python value as JSON has it: sets and tuples as lists, a dictionary as pairs where a map is wanted."""
    match type_, value:
        case t.OptionType(item), _ if value is not None:
            return _as_json(value, item)
        case t.MapType(key, image), dict():
            return [[_as_json(k, key), _as_json(v, image)] for k, v in value.items()]
        case ((t.SetType(item) | t.SeqType(item) | t.BagType(item)), (set() | frozenset() | tuple() | list())):
            return [_as_json(each, item) for each in value]
        case _:
            return value


def shortened(begin: Callable[[], ModelRun], error: DepartureError) -> DepartureError:
    """The departure at the end of a run from which no call, and no two or four in a row, can be left out.

    Hypothesis leaves out single choices; a ``put`` and the ``take`` that undoes it have to go together.
    """
    best, at, width = error, 0, 4
    while width:
        if at + width >= len(best.calls):
            at, width = 0, width // 2
            continue
        found = _repeated(begin, (*best.calls[:at], *best.calls[at + width :]))
        if found is not None and len(found.calls) < len(best.calls):
            best, at, width = found, 0, 4
        else:
            at += 1
    return best


def _repeated(begin: Callable[[], ModelRun], calls: Sequence[str]) -> DepartureError | None:
    """How a run with these calls departs from the model; None if it does not, or has not these calls."""
    try:
        with closing(begin()) as run:
            for text in calls:
                # By its text: the call of another run has steps from other states.
                call = next((each for each in run.calls() if each.text == text), None)
                if call is None:
                    return None
                run.perform(call)
    except DepartureError as error:
        return error
    return None
