"""Actions: what each instance does in a state. The body is walked in order, so that guards protect what follows them.

A false ``when`` disables the instance. A false ``bound`` is remembered. If every later ``when`` holds, the instance is
cut, under the label of the first such bound. If something later is undefined, it is cut too. Otherwise an undefined
expression makes the instance stuck. Being stuck takes precedence over exceeding a capacity, which cuts the instance
under ``capacity of x``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, product
from math import prod

from assay.checker.interpreter.actions.action_memo import OutcomeMemo
from assay.checker.interpreter.actions.action_prefix import GuardStep, LetStep, PickStep, PrefixStep, prefix_steps
from assay.checker.interpreter.actions.codegen_actions import ActionPrefix, TieredCode, action_code
from assay.checker.interpreter.actions.disabled_guards import FalseGuard, false_guards, rest_holds
from assay.checker.interpreter.actions.guard_order import all_hold, by_cost, have_values, lazy_frame, narrowed, needed
from assay.checker.interpreter.actions.outcome import Cut, Outcome, Picks, Stuck, Successor
from assay.checker.interpreter.actions.update import PendingWrite, Updater, writer
from assay.checker.interpreter.expressions.enumerate_set import listing
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Locals, Meaning
from assay.checker.interpreter.expressions.traverse import locals_of, variables_of
from assay.checker.interpreter.values.type_check import CapacityExceeded
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT, Undefined, too_large
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.grammar.values import Value

Arguments = tuple[Value, ...]

WORTH_KEEPING = 2
"""From this many values of its first parameter on, the values with which an action goes on are kept."""

FIRST_KEPT = 4096
"""For this many states they are kept."""

NOTHING: Locals = {}


class ActionMeaning:
    """An action that can be run. ``decisive`` collects the labels of guards that were the only false one of some
    instance, counting bounds."""

    __slots__ = (
        "_bounded",
        "_collections",
        "_early",
        "_first",
        "_first_reads",
        "_generated",
        "_instances",
        "_late",
        "_lets",
        "_named",
        "_parameters",
        "_pinned",
        "_prefix",
        "_recalled",
        "_renewed",
        "_scope",
        "_updater",
        "_updates",
        "_writes",
        "decisive",
        "names",
        "node",
    )

    def __init__(
        self, node: k.Action, scope: EvaluationScope, updater: Updater, *, bounded: bool = True, generated: bool = False
    ) -> None:
        prefix, updates = _split(node.body)
        self.node = node
        self.names = tuple(parameter.binder.name for parameter in node.parameters)
        self.decisive: set[str] = set()
        self._bounded = bounded
        self._parameters = [listing(parameter.domain, scope) for parameter in node.parameters]
        self._prefix = prefix_steps(prefix, scope)
        self._updates = writer(updates, scope)
        self._updater = updater
        self._scope = scope
        self._writes = updates
        self._generated = TieredCode() if generated else None
        self._recalled: OutcomeMemo | None = None
        self._instances: tuple[Arguments, ...] | None = None

    def _prepare(self) -> OutcomeMemo:
        """Analyse the body for ``results``, on its first call: most actions are only asked for ``outcomes``."""
        self._early, self._lets, self._late = self._divided()
        if self._generated is not None:
            parts = ActionPrefix(self._early, self._lets, self._late)
            # Before `narrowed` and `by_cost` below: generated code narrows and orders by itself.
            self._generated.make = partial(action_code, self.names, parts, self._writes, self._scope, self._updater)
        # For each parameter the names that may depend on it: a lazy value of the last argument must not survive.
        self._renewed = [[s.name for own in self._lets[at + 1 :] for s in own] for at in range(len(self.names))]
        self._named = {step.name: step for steps in self._lets for step in steps}
        self._late = narrowed(self._late, {*self.names, *self._named}, self._scope)
        self._collections = self._collections_of(self._scope)
        self._pinned = [
            by_cost([g for guards in self._early[at + 1 :] for g in guards], self._named)
            for at in range(len(self.names) + 1)
        ]
        self._early = [by_cost(guards, self._named) for guards in self._early]
        self._first: IdentityTupleMemo[list[tuple[Value, Locals]]] = IdentityTupleMemo(limit=FIRST_KEPT)
        self._first_reads = self._read_first(self._scope)
        self._recalled = OutcomeMemo(self.node.body, self.names[0] if self.names else None, self._scope)
        return self._recalled

    @property
    def instances(self) -> tuple[Arguments, ...]:
        """All tuples of arguments in canonical order. Raises ``SpecError`` if they are too many to list."""
        if self._instances is None:
            self._instances = tuple(self._combined(self.domains()))
        return self._instances

    def _combined(self, choices: Sequence[Sequence[Value]]) -> Iterator[Arguments]:
        size = prod(map(len, choices))
        if size > ENUMERATION_LIMIT:
            raise too_large(f"the parameters of `{self.node.name}`", size, self.node.span)
        return product(*choices)

    def domains(self) -> list[Sequence[Value]]:
        """The values of each parameter in canonical order."""
        # Domains of parameters are constants of the model: they read no state.
        nothing = Frame(())
        return [parameter(nothing) for parameter in self._parameters]

    def matching(self, wanted: Sequence[Value | None], given: Sequence[bool]) -> list[Arguments]:
        """The instances with the ``wanted`` arguments at the positions where ``given`` is true. Raises ``SpecError`` if
        they are too many to list."""
        domains = self.domains()
        chosen = [[x for x in domain if x == want] if is_given else domain
                  for domain, want, is_given in zip(domains, wanted, given, strict=True)]  # fmt: skip
        return list(self._combined(chosen))

    def results(
        self, state: tuple[Value, ...], choices: Sequence[Sequence[Value]]
    ) -> Iterator[tuple[Arguments, Successor | Cut]]:
        """What the instances with arguments from ``choices`` lead to, in their order, without bounds; disabled and
        stuck ones give nothing.

        Guards that mention only the first parameters are evaluated once for these, not again for each value of the
        others. So an action of a process and a broker is not tried for each pair if its guards admit one process. What
        concerns the first parameter alone is also kept for other states in which everything read for it is the very
        same (docs/design/action-memo.md).
        """
        given = 0
        try:
            for found in self._by_parameters(state, choices):
                given += 1
                yield found
        # In the order of the text a guard may protect what follows it from listing a set that is too large.
        except SpecError:
            yield from islice(self._in_the_order_of_the_text(state, choices), given, None)

    def _in_the_order_of_the_text(
        self, state: tuple[Value, ...], choices: Sequence[Sequence[Value]]
    ) -> Iterator[tuple[Arguments, Successor | Cut]]:
        for arguments in product(*choices):
            found = self.outcomes(state, arguments)
            yield from ((arguments, each) for each in found if isinstance(each, Successor | Cut))

    def _by_parameters(
        self, state: tuple[Value, ...], choices: Sequence[Sequence[Value]]
    ) -> Iterator[tuple[Arguments, Successor | Cut]]:
        recalled = self._recalled or self._prepare()
        # With one value the memo is asked about the argument itself, which is cheaper than listing those that pass.
        if not choices or len(choices[0]) < WORTH_KEEPING:
            given = choices[0][0] if choices and choices[0] else None
            yield from recalled.results(state, given, choices, partial(self._ask, state, choices, ()))
            return
        for value, known in self._after_first(state, choices[0]):
            ask = partial(self._ask, state, choices, (value,), known)
            yield from recalled.results(state, value, choices, ask)

    def _ask(
        self,
        state: tuple[Value, ...],
        choices: Sequence[Sequence[Value]],
        chosen: Arguments,
        known: Locals = NOTHING,
    ) -> Iterator[tuple[Arguments, Successor | Cut]]:
        """The results with the chosen arguments, by generated code where every operation has a value."""
        if self._generated is not None:
            found = self._generated.results(state, (chosen, *choices[1:]) if chosen else choices)
            if found is not None:
                return iter(found)
        frame = lazy_frame(state, known, self._named)
        return self._onward(frame, choices, chosen) if chosen else self._results(frame, choices, ())

    def _after_first(self, state: tuple[Value, ...], values: Sequence[Value]) -> list[tuple[Value, Locals]]:
        """The values of the first parameter whose guards hold, each with the names for values that are known then."""
        read = [values, *[state[at] for at in self._first_reads]]
        passed = self._first.get(read)
        return self._first.put(read, None, self._list_first(state, values)) if passed is None else passed

    def _list_first(self, state: tuple[Value, ...], values: Sequence[Value]) -> list[tuple[Value, Locals]]:
        frame = lazy_frame(state, {}, self._named)
        if not all_hold(frame, self._early[0]):
            return []
        passed: list[tuple[Value, Locals]] = []
        for value in self._possible(frame, 0, values):
            self._choose(frame, 0, value)
            if all_hold(frame, self._early[1]) and have_values(frame, self._names_up_to(1)):
                # A copy: the frame goes on to the next value.
                passed.append((value, dict(frame.locals)))
        return passed

    def _read_first(self, scope: EvaluationScope) -> list[int]:
        """The positions in the state that are read before a second parameter is chosen."""
        steps = [step.node for part in (self._early, self._lets) for steps in part[:2] for step in steps]
        return [scope.positions[name] for name in sorted({v for step in steps for v in variables_of(step)})]

    def _names_up_to(self, level: int) -> Iterator[str]:
        """The names for values that depend on at most ``level`` parameters."""
        return (step.name for steps in self._lets[: level + 1] for step in steps)

    def _choose(self, frame: Frame, at: int, value: Value) -> None:
        """Set a parameter, and drop the values of names that depend on it."""
        frame.locals[self.names[at]] = value
        for name in self._renewed[at]:
            frame.locals.pop(name, None)

    def _results(
        self, frame: Frame, choices: Sequence[Sequence[Value]], chosen: Arguments
    ) -> Iterator[tuple[Arguments, Successor | Cut]]:
        if all_hold(frame, self._early[len(chosen)]):
            yield from self._onward(frame, choices, chosen)

    def _onward(
        self, frame: Frame, choices: Sequence[Sequence[Value]], chosen: Arguments
    ) -> Iterator[tuple[Arguments, Successor | Cut]]:
        """The results with the chosen arguments, none of which a guard excludes."""
        begun = len(chosen)
        # With one combination left there is nothing to share, so all guards that remain go by cost.
        if all(len(values) == 1 for values in choices[begun:]):
            for at, (value,) in enumerate(choices[begun:], begun):
                self._choose(frame, at, value)
                chosen = (*chosen, value)
            # A name without a value makes the instance stuck, also where no guard mentions it.
            if all_hold(frame, self._pinned[begun]) and have_values(frame, self._named):
                found = list(self._walk(frame, self._late, 0, (), ()))
                yield from ((chosen, each) for each in found if isinstance(each, Successor | Cut))
            return
        for value in self._possible(frame, begun, choices[begun]):
            self._choose(frame, begun, value)
            yield from self._results(frame, choices, (*chosen, value))

    def _possible(self, frame: Frame, at: int, values: Sequence[Value]) -> Sequence[Value]:
        """The values of a parameter that are in all collections in which guards require it to be."""
        try:
            wanted = [collection(frame) for collection in self._collections[at]]
        # The guard is undefined for every value then, so none of them leads anywhere.
        except Undefined:
            return ()
        return [value for value in values if all(value in each for each in wanted)] if wanted else values

    def _divided(self) -> tuple[list[list[GuardStep]], list[list[LetStep]], list[PrefixStep]]:
        """The prefix without bounds, divided. For each number of parameters there are the guards and names that mention
        the last of them and no later one. Then there is the rest.

        Choices, and what mentions one, are the rest. The parts are not in the order of the body. That changes neither
        whether all of them have values and are true, nor these values (docs/design/guard-order.md).
        """
        early: list[list[GuardStep]] = [[] for _ in range(len(self.names) + 1)]
        lets: list[list[LetStep]] = [[] for _ in range(len(self.names) + 1)]
        late: list[PrefixStep] = []
        level = {name: number for number, name in enumerate(self.names, 1)}
        for step in self._prefix:
            # In logs a bound is no guard: it limits the model, not the system.
            if isinstance(step, GuardStep) and step.is_bound:
                continue
            needs = needed(step.node)
            if isinstance(step, PickStep) or not needs <= level.keys():
                late.append(step)
                continue
            # A name needs as many parameters as the last that it mentions, through other names too.
            own = max((level[name] for name in needs), default=0)
            if isinstance(step, LetStep):
                level[step.name] = own
                lets[own].append(step)
            else:
                early[own].append(step)
        return early, lets, late

    def _collections_of(self, scope: EvaluationScope) -> list[list[Meaning]]:
        """For each parameter the collections that must hold it, by guards ``b in c`` where ``c`` is known before ``b``
        is chosen."""
        found: list[list[Meaning]] = [[] for _ in self.names]
        for at, name in enumerate(self.names):
            known = {
                *self.names[:at],
                *self._names_up_to(at),
            }
            for step in self._early[at + 1]:
                match step.node:
                    case k.Guard(_, _, k.Member(_, k.Local(_, item), collection, False)) if item == name:
                        # Membership in these is decided without listing them, which may be impossible.
                        if isinstance(collection, k.Interval | k.Subsets):
                            continue
                        # A collection that mentions the parameter itself, or a later one, has no value yet.
                        if locals_of(collection) | _own_name(collection) <= known:
                            found[at].append(scope.meaning(collection))
        return found

    def outcomes(self, state: tuple[Value, ...], arguments: Arguments) -> list[Outcome]:
        """What the instance can do in the state, one outcome for each combination of picks; none if it is disabled."""
        return [each for each in self.each_outcome(state, arguments) if each is not None]

    def each_outcome(self, state: tuple[Value, ...], arguments: Arguments) -> Iterator[Outcome | None]:
        """The same one after the other, with None where a guard excludes picks: they may be very many."""
        return self._walk(self._frame(state, arguments), self._prefix, 0, (), ())

    def _frame(self, state: tuple[Value, ...], arguments: Arguments) -> Frame:
        return Frame(state, (), dict(zip(self.names, arguments, strict=True)))

    def _walk(
        self, frame: Frame, steps: Sequence[PrefixStep], start: int, cuts: tuple[str, ...], picks: Picks
    ) -> Iterator[Outcome | None]:
        at = start
        try:
            for at in range(start, len(steps)):
                step = steps[at]
                if isinstance(step, GuardStep):
                    if step.is_bound and not self._bounded:
                        continue
                    if step.holds(frame):
                        continue
                    if not step.is_bound:
                        # Before None is given away: who asks for the first outcome alone still learns of the guard.
                        self._note_decisive(step, frame, at, cuts)
                        yield None
                        return
                    cuts = (*cuts, step.node.label)
                elif isinstance(step, LetStep):
                    frame.locals[step.name] = step.value(frame)
                else:
                    for value in step.elements(frame):
                        frame.locals[step.name] = value
                        yield from self._walk(frame, steps, at + 1, cuts, (*picks, (step.name, value)))
                    return
            # Behind a false bound no update is made: one that is undefined would else be stuck and not cut.
            yield self._cut(cuts, picks) if cuts else self._update(frame, picks)
        except Undefined as undefined:
            stuck = Stuck(picks, undefined.message, undefined.span)
            yield self._cut_before(cuts, picks, frame, at) if cuts else stuck

    def _cut_before(self, cuts: tuple[str, ...], picks: Picks, frame: Frame, at: int) -> Cut:
        """The cut of an instance whose step ``at``, behind false bounds, is undefined."""
        # `rest_holds` goes through all later picks, so it is not asked about labels that are known.
        if len(cuts) == 1 and cuts[0] not in self.decisive and rest_holds(self._prefix, frame, at):
            self.decisive.add(cuts[0])
        return Cut(picks, cuts[0])

    def _cut(self, cuts: tuple[str, ...], picks: Picks) -> Cut:
        if len(cuts) == 1:
            self.decisive.add(cuts[0])
        return Cut(picks, cuts[0])

    def _update(self, frame: Frame, picks: Picks) -> Outcome:
        writes: list[PendingWrite] = []
        self._updates(frame, writes)
        try:
            return Successor(picks, self._updater.after(frame.now, writes))
        except CapacityExceeded as exceeded:
            return Cut(picks, f"capacity of {exceeded}")

    def _note_decisive(self, step: GuardStep, frame: Frame, at: int, cuts: tuple[str, ...]) -> None:
        # A false bound before this guard is an obstacle too, so this guard would not be the only one.
        if (
            self._bounded
            and not cuts
            and step.node.label not in self.decisive
            and rest_holds(self._prefix, frame, at + 1)
        ):
            self.decisive.add(step.node.label)

    def false_guards(self, state: tuple[Value, ...], arguments: Arguments) -> Iterator[tuple[FalseGuard, ...]]:
        """For every combination of picks, one after the other, all guards that are obstacles of their own, evaluated
        without stopping at the first."""
        return false_guards(self._prefix, self._frame(state, arguments))


def _own_name(expr: k.Expr) -> frozenset[str]:
    return frozenset({expr.name} if isinstance(expr, k.Local) else ())


def _split(body: Sequence[k.Statement]) -> tuple[Sequence[k.Statement], Sequence[k.Statement]]:
    at = next((i for i, each in enumerate(body) if isinstance(each, k.Assign | k.If | k.For)), len(body))
    return body[:at], body[at:]


def guards(action: k.Action) -> list[k.Guard]:
    """The guard lines of an action, in order."""
    return [each for each in action.body if isinstance(each, k.Guard)]
