"""Candidate repairs of a log: another value in a field, two lines swapped, clocks ignored, a line dropped, a step
added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field as default
from dataclasses import replace
from itertools import islice

from assay.checker.interpreter.values.show import show_value
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, Value
from assay.traces.explain.alternative_values import alternatives, distance, distinct, fits, parts, telling_parts
from assay.traces.explain.blame import Suspect
from assay.traces.observe.model_size import is_sized
from assay.traces.observe.observation import with_field
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.observe.reported_actions import known_actions
from assay.traces.observe.slice_name import slice_fields
from assay.traces.result import Repair
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.path import Move, SearchNode, SearchPath
from assay.traces.search.transition_system import ANY, Taken
from assay.traces.table.statement_keys import OF_THE_FILE

NEARBY = 1_000.0
"""A changed line is expected at most this many milliseconds before its time."""

STATES_TRIED = 60
"""How many states, reached by hidden steps, a changed line is tried in before a search is."""

SUSPECTS_TRIED = 6
MEMORY = 60
STATES_ADDED = 12
INSTANCES_TRIED = 300
"""The most blocked items, earlier items, states that hidden steps lead to before an inserted action, and occurrences
of such an action that are tried."""


# With an exchange before a missing line, 9 of 150 repairs of workflow logs cost more than an optimal alignment.
CHANGED, UNTIMED, ADDED, LEFT_OUT, SWAPPED, CHANGED_BEFORE = range(6)
"""The kinds of repairs, the likeliest first, where they explain as many lines (docs/design/ranking-of-repairs.md).

A line is lost more often than it is invented. Two lines that are exchanged are two moves of an alignment. Another value
in an earlier line, which has an explanation, is a move of the log and one of the model at once. It is preferred only if
it explains more.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A repair to try: the search over the changed streams, the path where it goes on, and its size (smaller is
    likelier).

    ``gain`` is the number of items that the repair itself explains.
    """

    repair: Repair
    search: TraceSearch
    start: tuple[SearchPath, ...]
    size: tuple[int, int, float]
    gain: int = 0
    item: OrderedObservation | None = None

    @property
    def cost(self) -> int:
        """What it costs as moves of an alignment."""
        return 2 if self.size[0] in {SWAPPED, CHANGED_BEFORE} else 1


@dataclass(frozen=True, slots=True)
class SingleRepairs:
    """The repairs by one move, or by two lines exchanged, of which an alignment is made.

    ``values`` are what open parameters of steps without a line are tried with; before the line ``item`` such a step is
    reported.
    """

    search: TraceSearch
    values: Sequence[Value]
    item: OrderedObservation | None

    def dropped(self, path: SearchPath, item: OrderedObservation) -> Candidate:
        """An item, which is next on a path, left out."""
        return dropped_at(self.search, path, item)

    def exchanged(self, path: SearchPath, item: OrderedObservation) -> Candidate | None:
        """An item and the one behind it exchanged; None if there is none, or if it says the same."""
        return swapped_at(self.search, path, item, item.position)

    def added(self, path: SearchPath, hidden: tuple[Taken, ...], taken: Taken) -> Candidate:
        """A step taken at the end of a path, after hidden ones."""
        return added_at(self.search, path, hidden, taken, self.item)

    def steps(self, state: int) -> Iterator[Taken]:
        """The steps that lines of the clause report."""
        for name in known_actions(self.search.model.plan):
            yield from occurrences(self.search, name, self.values, state)


def candidates(search: TraceSearch, deepest: Sequence[SearchPath], ranked: Sequence[Suspect]) -> Iterator[Candidate]:
    """All repairs worth trying."""
    # First the lines that cannot be read; then the lines before, which may have led the model astray; then what is
    # about no single line.
    blocked = list(dict.fromkeys(suspect.item for suspect in ranked))[:SUSPECTS_TRIED]
    for item in blocked:
        found = [suspect for suspect in ranked if suspect.item is item]
        path = found[0].path
        yield from _changes(search, path, item, doubted_values(found), consumed=False)
        yield from _swaps(search, path, item)
        yield dropped_at(search, path, item)
    of_all = doubted_values(ranked)
    for item in _consumed(deepest[0]):
        yield from _changes(search, deepest[0], item, of_all, consumed=True)
    if search.frontier.order.timed:
        yield _untimed(search, deepest[0])
    yield from _added(search, deepest[0], ranked)


@dataclass(frozen=True, slots=True)
class DoubtedValues:
    """What false conditions read. ``in_model`` are all parts of the model's values. ``hints`` are those parts of these
    and of the log's values that a field might have had instead. A model may hold thousands of messages: they are taken
    apart once.
    """

    in_model: frozenset[Value]
    hints: Sequence[Value]
    _of_types: IdentityMemo[t.Type, Sequence[Value]] = default(default_factory=IdentityMemo)

    def of_type(self, type_: t.Type) -> Sequence[Value]:
        """The hints that matter for a field of some type."""
        return self._of_types.get_or_make(type_, self._hints)

    def _hints(self, type_: t.Type) -> Sequence[Value]:
        if isinstance(type_, t.RangeType | t.IntType):  # those out of range have neighbours in it
            return [each for each in self.hints if isinstance(each, int) and not isinstance(each, bool)]
        plain = isinstance(type_, t.AtomType | t.BoolType)
        return [each for each in self.hints if fits(each, type_)] if plain else self.hints


def doubted_values(found: Iterable[Suspect]) -> DoubtedValues:
    """The values of some suspects."""
    atoms = [obstacle.atom for suspect in found for obstacle in suspect.obstacles]
    wholes = distinct(each.value for atom in atoms for each in atom.model)
    in_model = distinct(part for whole in wholes for part in parts(whole))
    logged = distinct(each.value for atom in atoms for each in atom.log)
    bounds = (bound for atom in atoms for bound in atom.bounds)
    hints = distinct([*in_model, *(part for whole in logged for part in parts(whole)), *bounds])
    return DoubtedValues(frozenset(in_model), hints)


def _consumed(path: SearchPath) -> list[OrderedObservation]:
    """The items read last, the last one first."""
    read = (step.move.item for step in path.backwards() if step.move is not None and step.move.item is not None)
    return list(islice(read, MEMORY))


def first_at(path: SearchPath, item: OrderedObservation) -> SearchPath:
    """The prefix of a path at which the item would come. There it is next in its stream, and no much later line has
    changed the state.
    """
    found = path
    for step in path.backwards():
        if step.node.cursors[item.stream] < item.position:
            break
        found = step
        if (
            # A step that left the state as it was is no reason to stop: before it the line reads the same.
            step.before is None
            or step.move is None
            or step.move.item is None
            or step.before.node.state == step.node.state
        ):
            continue
        if step.node.cursors[item.stream] == item.position and step.move.item.time < item.time - NEARBY:
            break
    return found


def _changes(
    search: TraceSearch, path: SearchPath, item: OrderedObservation, doubted: DoubtedValues, *, consumed: bool
) -> Iterator[Candidate]:
    """The item with another value in one field. An earlier item is doubted if the model's value in a false condition
    may stem from it.
    """
    event, start = item.observation.event, first_at(path, item)
    states = _states_near(search, path, start)
    for field in item.observation.rule.fields:
        if field.field in OF_THE_FILE:
            continue
        value = dict(item.observation.values)[field.field]
        # An earlier line is of interest only if a false condition reads what it said: else every value of every line
        # would be tried.
        if consumed and not any(map(doubted.in_model.__contains__, telling_parts(value))):
            continue
        for other in alternatives(value, field.binder.type, doubted.of_type(field.binder.type)):
            old, new = _shown(value, field), _shown(other, field)
            repair = Repair("change", f"`{field.field}` is {new} instead of {old}", event, field.field, old, new)
            edited = replace(item, observation=with_field(item.observation, field.field, other, new))
            # A cheap test: most values fit in no state nearby, and the search that a candidate needs is dear.
            possible = search.model.applies_to(edited.observation)
            if not possible or not any(search.model.consume(edited, state) for state in states):
                continue
            items = search.frontier.order.streams[item.stream].items
            order = search.frontier.order.with_items(
                item.stream, (*items[: item.position], edited, *items[item.position + 1 :])
            )
            kind = CHANGED_BEFORE if consumed else CHANGED
            size = (kind, distance(value, other), path.read - start.read if consumed else 0)
            yield Candidate(repair, search.with_change(order, edited), (start,), size, item=item)


def _states_near(search: TraceSearch, path: SearchPath, start: SearchPath) -> list[int]:
    """The states of a path from a point on, and those that few hidden steps reach from its end."""
    passed = []
    for step in path.backwards():
        passed.append(step.node.state)
        if step is start:
            break
    closure = search.dead_ends().closure(path.node, reduced=False)
    beyond = [state for level in (1, 2) for state in closure.level(level)]
    return list(dict.fromkeys([*passed, *beyond[:STATES_TRIED]]))


def _shown(value: Value, field: k.EventField) -> str:
    return show_value(value, field.binder.type)


def _swaps(search: TraceSearch, path: SearchPath, item: OrderedObservation) -> Iterator[Candidate]:
    """The item swapped with its neighbours in the file."""
    # With the one behind, and with the one before: either of them may be the line that is out of place.
    for at in (item.position, item.position - 1):
        found = swapped_at(search, path, item, at)
        if found is not None:
            yield found


def swapped_at(search: TraceSearch, path: SearchPath, item: OrderedObservation, at: int) -> Candidate | None:
    """The lines at a position of the item's stream and behind it exchanged; None if there are none, or if they say the
    same."""
    items = search.frontier.order.streams[item.stream].items
    if not 0 <= at < len(items) - 1:
        return None
    first, second = items[at], items[at + 1]
    if _alike(first, second):
        return None
    low, high = first.earliest, second.latest
    # Either may have happened at any time of both, or the times would forbid the new order.
    joint = (replace(each, earliest=low, latest=high) for each in (second, first))
    swapped = (*items[:at], *joint, *items[at + 2 :])
    other = second if first is item else first
    text = f"the line is exchanged with {other.observation.event.record.place}"
    repair = Repair("swap", text, item.observation.event)
    order = search.frontier.order.with_items(item.stream, swapped)
    size = (SWAPPED, 0, abs(first.time - second.time))
    return Candidate(repair, search.with_order(order), (first_at(path, first),), size, item=item)


def _alike(first: OrderedObservation, second: OrderedObservation) -> bool:
    """Whether two lines have the same rule and values."""
    one, other = first.observation, second.observation
    return one.rule is other.rule and one.values == other.values


def dropped_at(search: TraceSearch, path: SearchPath, item: OrderedObservation) -> Candidate:
    """The item, which is next on a path, left out."""
    items = search.frontier.order.streams[item.stream].items
    order = search.frontier.order.with_items(item.stream, (*items[: item.position], *items[item.position + 1 :]))
    repair = Repair("drop", "the line is left out", item.observation.event)
    return Candidate(repair, search.with_change(order, None), (path,), (LEFT_OUT, 0, 0.0), gain=1, item=item)


def _untimed(search: TraceSearch, path: SearchPath) -> Candidate:
    """The log without the order by times. Where the search begins again, the lines that are out of time are not read
    yet.
    """
    order: PartialOrder = replace(search.frontier.order, timed=False)
    start = list(islice(path.backwards(), MEMORY))[-1]
    repair = Repair(
        "clock", "the clocks of the nodes differ by more, or lines were written later, than the clause says", None
    )
    return Candidate(repair, search.with_order(order), (start,), (UNTIMED, 0, 0.0))


def _added(search: TraceSearch, path: SearchPath, ranked: Sequence[Suspect]) -> Iterator[Candidate]:
    """An action taken without the line that the clause expects for it."""
    values = values_nearby(ranked)
    names = known_actions(search.model.plan)
    item = ranked[0].item if ranked else None
    for hidden, state in _before_added(search, path):
        for name in names:
            for taken in occurrences(search, name, values, state):
                if taken.state != state:
                    yield added_at(search, path, hidden, taken, item)


def values_nearby(ranked: Sequence[Suspect]) -> list[Value]:
    """The values that lines state where they contradict the model, and the numbers beside them."""
    # In their order, not as a set: only the first values are tried, and these must not depend on hashes.
    hints = distinct(
        part for one in ranked for each in one.obstacles for logged in each.atom.log for part in parts(logged.value)
    )
    known = [each for each in hints if isinstance(each, int) and not isinstance(each, bool)]
    numbers = {n for number in known for n in (number, number - 1, number + 1)}
    return [*sorted(numbers), *(each for each in hints if not isinstance(each, int) or isinstance(each, bool))]


def added_at(
    search: TraceSearch, path: SearchPath, hidden: tuple[Taken, ...], taken: Taken, item: OrderedObservation | None
) -> Candidate:
    """A step taken at the end of a path, after hidden ones; ``item`` is the line before which it is reported."""
    start = path.then(Move(hidden, None, (taken,)), SearchNode(path.node.cursors, taken.state, 0))
    event = None if item is None else item.observation.event
    repair = Repair("add", f"a line before it, of the action {_call(search, taken, item)}, is missing", event)
    return Candidate(repair, search, (start,), (ADDED, len(hidden), 0.0), item=item)


def _before_added(search: TraceSearch, path: SearchPath) -> list[tuple[tuple[Taken, ...], int]]:
    """The states in which a step without its line may be taken. They are the state of a path, and those that hidden
    steps lead to, if they are few.
    """
    closure = search.dead_ends().closure(path.node, reduced=False)
    depths = range(1, max(0, search.model.plan.hidden_limit - path.node.hidden) + 1)
    # One more than allowed, to see whether they are few.
    beyond = list(islice((state for depth in depths for state in closure.level(depth)), STATES_ADDED + 1))
    further = beyond if len(beyond) <= STATES_ADDED else []
    return [((), path.node.state), *((closure.route(state), state) for state in further)]


def occurrences(search: TraceSearch, name: str, values: Sequence[Value], state: int) -> Iterator[Taken]:
    """The first occurrences of an action now; a parameter whose type grows with the log takes only the given values."""
    return islice(_occurrences(search, name, values, state), INSTANCES_TRIED)


def _occurrences(search: TraceSearch, name: str, values: Sequence[Value], state: int) -> Iterator[Taken]:
    model = search.model
    parameters = model.meanings.actions[name].node.parameters
    growing = [at for at, parameter in enumerate(parameters) if is_sized(parameter.binder.type)]
    if not growing:
        yield from model.call(name, (ANY,) * len(parameters), state)
    # With two open parameters the pairs of values are too many, so such an action is not tried at all.
    elif len(growing) == 1:
        (open_,) = growing
        for value in (each for each in values if fits(each, parameters[open_].binder.type)):
            wanted = tuple(value if at == open_ else ANY for at in range(len(parameters)))
            yield from model.call(name, wanted, state)


def _call(search: TraceSearch, taken: Taken, item: OrderedObservation | None) -> str:
    """The step in the log's names: in a slice one element of the model stands for the one that the log names."""
    parameters = search.model.meanings.actions[taken.action].node.parameters
    slicing, own, name = search.model.plan.slicing, None, ""
    if slicing is not None and item is not None:
        seen = item.observation
        own = next((v for _, v in seen.values if isinstance(v, Atom) and v.sort == slicing.sort.name), None)
        name = "-".join(slice_fields(slicing, seen.event))
    values = (
        name if v == own and own is not None and name else show_value(v, p.binder.type)
        for (_, v), p in zip(taken.arguments, parameters, strict=True)
    )
    return f"`{taken.action}({', '.join(values)})`"
