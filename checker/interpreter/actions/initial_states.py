"""Initial states: the body of ``init`` is run on a state without values, and the results that satisfy its conditions
are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.checker.interpreter.actions.outcome import Cut, Outcome, Picks, Stuck, Successor
from assay.checker.interpreter.actions.update import PendingWrite, Updater, Writer, writer
from assay.checker.interpreter.expressions.enumerate_set import Listing, listing
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame
from assay.checker.interpreter.values.type_check import CapacityExceeded
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT, Undefined, too_large
from assay.checker.report import State
from assay.grammar import kernel as k


class InitMeaning:
    """The initial states of a model."""

    __slots__ = ("_conditions", "_node", "_steps", "_updater")

    def __init__(self, node: k.Init, scope: EvaluationScope, updater: Updater) -> None:
        self._node = node
        self._updater = updater
        self._steps = [_step(each, scope) for each in node.body]
        self._conditions = [(guard, scope.meaning(guard.condition)) for guard in node.conditions]

    def outcomes(self) -> Iterator[Outcome]:
        """The initial states in canonical order of the picks, with what was cut or undefined among them.

        Raises ``SpecError`` if there are too many to list.
        """
        for number, outcome in enumerate(self._walk(Frame(()), 0, (), (), None)):
            # Counted before they are filtered: choices that conditions exclude take time, too.
            if number >= ENUMERATION_LIMIT:
                raise too_large("the choice of an initial state", number + 1, self._node.span)
            if outcome is not None:
                yield outcome

    def first_stuck(self, heed: Callable[[], None]) -> Stuck | None:
        """The first initial state without a value, however many there are; ``heed`` is called before each and may
        raise."""
        for outcome in self._walk(Frame(()), 0, (), (), None):
            heed()
            if isinstance(outcome, Stuck):
                return outcome
        return None

    def reaching(self, state: State) -> Picks | None:
        """The first picks that make this state, found without listing the others; None if none do."""
        found = self._walk(Frame(()), 0, (), (), state)
        return next((each.picks for each in found if isinstance(each, Successor) and each.state == state), None)

    def _walk(
        self, frame: Frame, start: int, writes: tuple[PendingWrite, ...], picks: Picks, wanted: State | None
    ) -> Iterator[Outcome | None]:
        """Run the body from a statement on. With a ``wanted`` state, a branch is left as soon as a variable differs
        from it."""
        try:
            made = list(writes)
            for at in range(start, len(self._steps)):
                step = self._steps[at]
                if isinstance(step, tuple):
                    name, elements = step
                    for value in elements(frame):
                        frame.locals[name] = value
                        # A copy of the writes: each value of the pick continues from here.
                        yield from self._walk(frame, at + 1, tuple(made), (*picks, (name, value)), wanted)
                    return
                step(frame, made)
                # No later statement can mend this: a second write to the same variable would overlap and be undefined.
                if wanted is not None and made and not made[-1].path and made[-1].value != wanted[made[-1].variable]:
                    return
            yield self._finish(frame, made, picks)
        except Undefined as undefined:
            yield Stuck(picks, undefined.message, undefined.at(self._node.span).span)

    def _finish(self, frame: Frame, writes: list[PendingWrite], picks: Picks) -> Outcome | None:
        try:
            state = self._updater.initial(writes)
        except CapacityExceeded as exceeded:
            return Cut(picks, f"capacity of {exceeded}")
        # Only now is there a state to read: the body of `init` reads none, its conditions do.
        frame.now = state
        cut = None
        for guard, holds in self._conditions:
            if not holds(frame):
                if guard.kind == "when":
                    # A false `when` excludes the state, even if a bound before it was false: that is no cut.
                    return None
                cut = cut or guard.label
        return Successor(picks, state) if cut is None else Cut(picks, cut)


def _step(each: k.Statement, scope: EvaluationScope) -> tuple[str, Listing] | Writer:
    if isinstance(each, k.Pick):
        return (each.binder.name, listing(each.domain, scope))
    return writer([each], scope)
