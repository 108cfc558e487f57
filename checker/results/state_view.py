"""States by their `view`: the kernel without the variables that the view leaves out, and traces with them again.

Two states are equal under the view if the variables that it names are. Merging them is sound where the other variables
("hidden" ones) decide nothing. That is, no guard, no pick, no update of a named variable and no property reads them.
Then the steps of the named variables are those of a kernel that has no others, whatever values the hidden ones have. So
each state simulates every state that is equal under the view. So any engine checks this kernel, and its verdicts are
those of the whole one. Two things about hidden variables are left out: their bounds and capacities cut no step, and
nobody checks that their updates have a value. Anything else is refused, with the place that sees through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.traverse import locals_of, variables_of
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report, State, Step, Trace
from assay.checker.search_interface.finding import DEFINED
from assay.checker.search_interface.link import Link
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, SpecError
from assay.grammar.lazy_dataclass import dataclass

SEEN_THROUGH = "E846"


@dataclass(frozen=True, slots=True)
class StateView:
    """What is searched of a kernel with a view: ``kernel``, without the variables ``hidden`` of the ``whole`` one."""

    whole: k.Kernel
    kernel: k.Kernel
    hidden: tuple[str, ...]

    def lifted(self, report: Report) -> Report:
        """The report of a search of ``kernel``. Its traces show the hidden variables where each of them goes through in
        the whole kernel. A hidden variable that leaves its type on the way stays hidden in all of them."""
        if not self.hidden:
            return report
        report = replace(report, properties=tuple(map(self._defined, report.properties)), hidden=self.hidden)
        model, hidden = Model(self.whole), set(self.hidden)
        # States of both kernels have their variables in one order, so a projection is by position.
        places = [at for at, each in enumerate(self.whole.variables) if each.name not in hidden]

        def seen(state: State) -> State:
            return tuple(state[at] for at in places)

        shown = [_lifted_result(each, model, seen) for each in report.properties]
        found = [each for each in shown if each is not None]
        # All or none: a report has one kernel, which says what variables its states have.
        if len(found) < len(shown):
            return report
        return replace(report, kernel=self.whole, properties=tuple(found))

    def _defined(self, result: PropertyResult) -> PropertyResult:
        """That updates have a value is said of those that were looked at."""
        if result.name != DEFINED or result.outcome not in {Outcome.HOLDS, Outcome.UP_TO_BOUND}:
            return result
        left_out = f"updates of {', '.join(self.hidden)} were not looked at"
        return replace(result, reason=f"{result.reason}; {left_out}" if result.reason else left_out)


def view_of(kernel: k.Kernel, options: SearchOptions) -> StateView:
    """The kernel as its view shows it; the kernel itself where there is no view, or it is not wanted. Raises
    ``SpecError`` where something that is asked for sees through the view."""
    named = set(kernel.view)
    hidden = tuple(each.name for each in kernel.variables if each.name not in named)
    if not kernel.view or not options.view or not hidden:
        return StateView(kernel, kernel, ())
    projection = _Projection(kernel, frozenset(hidden))
    made = projection.made(options)
    if projection.problems:
        raise SpecError(projection.problems)
    return StateView(kernel, made, hidden)


@dataclass(slots=True)
class _Projection:
    kernel: k.Kernel
    hidden: frozenset[str]
    problems: list[Diagnostic] = field(default_factory=list)

    def made(self, options: SearchOptions) -> k.Kernel:
        whole = self.kernel
        asked = [each for each in whole.properties if options.selects(each.name)]
        for each in asked:
            self._refuse_property(each)
        for condition in whole.terminal:
            self._refuse_reading(condition.condition, f"`terminal {condition.label}`")
        scenarios = [each for each in whole.scenarios if options.selects(each.name)]
        for scenario in scenarios:
            for step in scenario.steps:
                self._refuse_reading(step, f"the scenario `{scenario.name}`")
        return replace(
            whole,
            variables=tuple(each for each in whole.variables if each.name not in self.hidden),
            init=self._init(whole.init),
            actions=tuple(self._action(each) for each in whole.actions),
            properties=tuple(asked),
            scenarios=tuple(scenarios),
            shows=tuple(each for each in whole.shows if not variables_of(each) & self.hidden),
            # A trace clause may read hidden variables; a search asks none.
            traces=(),
            view=(),
        )

    def _refuse_property(self, node: k.Property) -> None:
        called = f"the {node.kind} `{node.name}`"
        if node.kind == "temporal":
            self._refuse(node, f"{called} is about runs, and the view is for properties of states and steps")
        for conjunct in node.conjuncts:
            self._refuse_reading(conjunct.condition, called)
        for each in self.kernel.refinements:
            if node.kind == "refinement" and each.name == node.name:
                for read in (*each.values, *each.actions):
                    self._refuse_reading(read, called)

    def _refuse_reading(self, node: k.Node, called: str, tainted: Iterable[str] = ()) -> bool:
        """Refuse a node that reads a hidden variable, or a name that depends on one; whether it does."""
        read = variables_of(node) & self.hidden
        if not read and not (locals_of(node) | _itself(node)) & set(tainted):
            return False
        what = f"reads `{min(read)}`" if read else "reads what depends on a hidden variable"
        self._refuse(node, f"{called} {what}, which the view leaves out")
        return True

    def _refuse(self, node: k.Node, text: str) -> None:
        advice = "name the variable in `view:`, leave the property out with `--property`, or check with `--view off`"
        self.problems.append(Diagnostic(SEEN_THROUGH, node.span, text, (Note(advice, None),)))

    def _init(self, init: k.Init) -> k.Init:
        for condition in init.conditions:
            self._refuse_reading(condition.condition, "a condition of `init`")
        return replace(init, body=self._body(init.body, "`init`", set()))

    def _action(self, action: k.Action) -> k.Action:
        return replace(action, body=self._body(action.body, f"the action `{action.name}`", set()))

    def _body(self, body: Sequence[k.Statement], called: str, tainted: set[str]) -> tuple[k.Statement, ...]:
        return tuple(kept for each in body for kept in self._statement(each, called, tainted))

    def _statement(self, node: k.Statement, called: str, tainted: set[str]) -> Iterator[k.Statement]:
        """What is left of a statement; ``tainted`` are the names that depend on hidden variables."""
        match node:
            # The name goes, and whatever would read it is refused, or is an update of a hidden variable.
            case k.Let() if self._reads(node.value, tainted):
                tainted.add(node.binder.name)
            case k.Assign() if node.variable in self.hidden:
                pass
            case k.If() | k.For():
                yield from self._block(node, called, tainted)
            case _:
                self._refuse_reading(node, called, tainted)
                yield node

    def _block(self, node: k.If | k.For, called: str, tainted: set[str]) -> Iterator[k.Statement]:
        """What is left of a block. Where it decides over hidden variables alone, nothing is."""
        head = node.condition if isinstance(node, k.If) else node.domain
        # Names of a block end with it.
        inner = set(tainted)
        if isinstance(node, k.If):
            then, otherwise = self._body(node.then, called, inner), self._body(node.otherwise, called, inner)
            kept: k.If | k.For = replace(node, then=then, otherwise=otherwise)
            empty = not then and not otherwise
        else:
            if self._reads(head, tainted):
                inner.add(node.binder.name)
            body = self._body(node.body, called, inner)
            kept, empty = replace(node, body=body), not body
        # A condition about hidden variables alone is no problem where nothing visible depends on it.
        if not empty:
            self._refuse_reading(head, called, tainted)
            yield kept

    def _reads(self, node: k.Expr, tainted: set[str]) -> bool:
        return bool(variables_of(node) & self.hidden or (locals_of(node) | _itself(node)) & tainted)


def _itself(node: k.Node) -> frozenset[str]:
    return frozenset({node.name}) if isinstance(node, k.Local) else frozenset()


Seen = Callable[[State], State]
"""What the view shows of a state."""


def _lifted_result(result: PropertyResult, model: Model, seen: Seen) -> PropertyResult | None:
    trace = None if result.trace is None else _lifted(result.trace, model, seen)
    others = [_lifted(each.trace, model, seen) for each in result.others if each.trace is not None]
    if (result.trace is not None and trace is None) or None in others or len(others) < len(result.others):
        return None
    pairs = zip(result.others, others, strict=True)
    return replace(result, trace=trace, others=tuple(replace(each, trace=found) for each, found in pairs))


def _lifted(trace: Trace, model: Model, seen: Seen) -> Trace | None:
    """The trace in the whole kernel, by the same actions with the same picks; None where a step does not go through."""
    first = trace.steps[0]
    # Several initial states may look alike; the picks tell which one was meant.
    starts = (each for each in model.init.outcomes() if isinstance(each, Successor) and each.picks == first.picks)
    begun = next((each for each in starts if seen(each.state) == first.state), None)
    if begun is None:
        return None
    steps = [replace(first, state=begun.state)]
    for step in trace.steps[1:]:
        # Without an action the step stutters, as in the loop of a run.
        after = steps[-1].state if step.action is None else _after(steps[-1].state, step, model, seen)
        if after is None:
            return None
        steps.append(replace(step, state=after))
    return replace(trace, steps=tuple(steps))


def _after(before: State, step: Step, model: Model, seen: Seen) -> State | None:
    for action, arguments, outcome in outcomes(model, before):
        if isinstance(outcome, Successor) and seen(outcome.state) == step.state:
            made = Link(action, arguments, outcome.picks).step(step.state)
            if made == step:
                return outcome.state
    return None
