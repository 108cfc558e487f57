"""Another state for a search to go on from, where logs lack lines: near the reached one, and its next lines fit.

What processes did meanwhile was not logged. A window of the next lines is asked for a state before them. It satisfies
the lemmas, and the transition properties that last allow it after the reached one. It differs from that in few places.
Why: docs/design/reopening.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.layout.encode import UnfitError
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.report import State
from assay.checker.symbolic.sat.clause_blocks import FALSE, TRUE, UnansweredError
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, FrozenMap, Value
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.next_items import Cursors, advanced
from assay.traces.search.path import UNLOGGED, Move, SearchNode, SearchPath
from assay.traces.search.transition_system import Taken, TraceModel
from assay.traces.windows.open_window import Allowance, OpenWindow, Order
from assay.traces.windows.replayed import places_of, same_as
from assay.traces.windows.slice_window import CONFLICTS, lasting, template_of
from assay.traces.windows.window_model import LogPart, WindowModel, elements_of, window_model, writer_parameters

MOST_LINES = 16
"""How many of the next lines the other state has to explain."""

Place = tuple[str, Value | None]
"""A variable, or its entry for an element."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """A path to another state, which of its places differ from the reached one, in words, and the search that goes on."""

    path: SearchPath
    places: tuple[str, ...]
    search: TraceSearch


def reopened(search: TraceSearch, path: SearchPath, log: LogPart) -> Reopened | None:
    """The path, and after it unlogged steps to a state from which the next lines are explained; None if none is found.
    The path alone, where the reached state itself explains them.

    Where there is none with the inferred events among these, the other state stands for them, and they are left out.
    """
    items = _next_lines(search, path.node.cursors)
    gone = {each.index for each in items if each.observation.event.is_inferred}
    found = _reopened(search, path, items, log, len(items) if gone else 1)
    if not gone or (found is not None and found.places):
        return found
    order = search.frontier.order
    for at, stream in enumerate(order.streams):
        order = order.with_items(at, [each for each in stream.items if each.index not in gone])
    return _reopened(search.with_order(order), path, [each for each in items if each.index not in gone], log, 1)


def _reopened(
    search: TraceSearch, path: SearchPath, items: Sequence[OrderedObservation], log: LogPart, least: int
) -> Reopened | None:
    """The path to a state that explains the first ``least`` lines, and most of the others that one explains."""
    if not items:
        return None
    reached = search.model.states[path.node.state]
    born = search.model.states[search.model.initial[0]]
    variables = search.model.kernel.variables
    known = {each.name: _told(*values) for each, *values in zip(variables, reached, born, strict=True)}
    try:
        with deep_recursion(log.loaded.kernel):
            window = _named(window_model(log, items, known=known), search.model)
            found = _changed(window, search.model, known, log, least)
    except (UnansweredError, UnfitError, SpecError, UnsupportedError):
        return None
    if not found:
        return None if found is None else Reopened(path, (), search)
    changed = dict(found)
    state = tuple(_with(each.name, value, changed) for each, value in zip(variables, reached, strict=True))
    node = SearchNode(path.node.cursors, search.model.number(state), 0)
    move = Move((Taken(UNLOGGED, (), (), node.state),), None, ())
    places = tuple(text for _, text in changed.values())
    return Reopened(SearchPath(node, path.read, path, move), places, search)


def _next_lines(search: TraceSearch, cursors: Cursors) -> list[OrderedObservation]:
    """The lines that come next, in the order of their times as far as the clause allows it."""
    found = list[OrderedObservation]()
    while len(found) < MOST_LINES and (heads := search.frontier.heads(cursors).items):
        item = min(heads, key=lambda each: (each.time, each.index))
        found.append(item)
        cursors = advanced(cursors, item)
    return found


def _told(value: Value, born: Value) -> Value:
    """The entries of a map that are not as at birth, or the whole of another value."""
    if not (isinstance(value, FrozenMap) and isinstance(born, FrozenMap)):
        return value
    # Each element that a told entry names gets room in the window. With all entries it would be as large as the log.
    return FrozenMap({key: _told(each, born.get(key)) for key, each in value.items() if born.get(key) != each})


def _changed(
    window: WindowModel, model: TraceModel, known: Mapping[str, Value], log: LogPart, least: int
) -> list[tuple[Place, tuple[Value, str]]] | None:
    """The places at which the other state differs, with their values there in terms of the log, and in words. None if no
    state explains the first ``least`` lines."""
    near = window.state_of(known)
    order = Order(tuple(tuple(range(at)) for at in range(len(window.items))))
    asked = OpenWindow(template_of(window.kernel), window, order, Allowance(), CONFLICTS)
    try:
        reached = asked.template.bits(near)
        # Any number of steps may lie between the reached state and the other one, so only what lasts is required.
        asked.keep_since([TRUE if bit else FALSE for bit in reached], lasting(log))
        wanted = _most_lines(asked, least)
        if not wanted:
            return None
        _move_near(asked, wanted, near, _logged(log, window))
        values = asked.formula.values(asked.parts.frames[0])
        return list(_differing(asked, model, reached, values))
    finally:
        asked.close()


def _differing(
    asked: OpenWindow, model: TraceModel, reached: Sequence[bool], values: Sequence[bool]
) -> Iterator[tuple[Place, tuple[Value, str]]]:
    """The places of a state that differ from the reached one; both are bits of the window."""
    window, rewrite = asked.window, elements_of(model)
    types = {each.name: each.type for each in window.probe.kernel.variables}
    for place, bits in places_of(asked, asked.template.values(values)):
        if any(values[at] != reached[at] for at in bits):
            of, key = types[place.variable], None
            if place.key is not None:
                assert isinstance(of, t.MapType)
                key, of = rewrite(window.as_logged(place.key, of.key), of.key), of.value
            value = rewrite(window.as_logged(place.value, of), of)
            yield (place.variable, key), (value, window.words(place.variable, place.key, place.value))


def _with(name: str, reached: Value, changed: Mapping[Place, tuple[Value, str]]) -> Value:
    """The value of a variable with what has changed of it."""
    if (name, None) in changed:
        return changed[name, None][0]
    entries = {key: value for (variable, key), (value, _) in changed.items() if variable == name}
    return FrozenMap({**reached, **entries}) if entries else reached  # type: ignore[dict-item]  # a map has entries


def _named(window: WindowModel, model: TraceModel) -> WindowModel:
    """The window with an element of the model for each set of which neither the lines nor the state name one."""
    elements = {sort.name: sort.elements for sort in model.kernel.sorts}
    names = {sort: known if known[0] in elements[sort] else elements[sort][:1] for sort, known in window.names.items()}
    return replace(window, names=names)


def _logged(log: LogPart, window: WindowModel) -> frozenset[Value]:
    """The processes of a window whose logs are whole."""
    if log.options.lossy:
        return frozenset()
    since = min(each.item.time for each in window.items)
    whole = log.processes(since)
    sorts = {sort for _, _, sort in writer_parameters(window.model.plan)}
    named = ((sort, at, name) for sort in sorts for at, name in enumerate(window.names[sort]))
    return frozenset(Atom(sort, at, f"{sort}-{at}") for sort, at, name in named if name in whole)


def _most_lines(asked: OpenWindow, least: int) -> list[int]:
    """What asks the solver for the first ``least`` lines, and for most of the others that one state explains. Empty if
    there is none. Raises ``UnansweredError``."""
    known, wanted = asked.switches, asked.asked
    while not asked.formula.solve(wanted):
        # What a line that is left out may write is open after it, so later ones still say what the state may be.
        last = max((known[each].line for each in asked.formula.core()), default=-1)
        if last < least:
            return []
        wanted = [literal for literal in wanted if known[literal].line != last]
    return wanted


def _move_near(asked: OpenWindow, wanted: Sequence[int], near: State, logged: frozenset[Value]) -> None:
    """Look for a model whose beginning differs from the reached state in few places. Each is kept that can be, in
    turn, first what ``logged`` processes know. The others get the next greater value. Raises ``UnansweredError``."""
    places = sorted(same_as(asked, near), key=lambda each: each[0].key not in logged)
    if asked.formula.solve([*wanted, *(same for _, same in places)]):
        return
    # Place by place: with all of a core given up at once more changed than had to, and searches failed later.
    kept, bits = list(wanted), dict(places_of(asked, near))
    opened = list[range]()
    for place, same in places:
        if asked.formula.solve([*kept, same]):
            kept.append(same)
        else:
            opened.append(bits[place])
    reached = asked.template.bits(near)
    for each in opened:
        kept += _next_greater(asked, kept, [(asked.parts.frames[0][bit], reached[bit]) for bit in reversed(each)])
    asked.formula.solve(kept)


def _next_greater(asked: OpenWindow, kept: Sequence[int], bits: Sequence[tuple[int, bool]]) -> list[int]:
    """What asks for the least value that is greater than the reached one, or else for the least. The bits of a place come
    with the reached ones, the highest first. Numbers rise: with a greater one a later line would be of the past."""
    found = list[int]()
    for at in reversed([at for at, (_, is_set) in enumerate(bits) if not is_set]):
        greater = [literal if is_set else -literal for literal, is_set in bits[:at]] + [bits[at][0]]
        if asked.formula.solve([*kept, *greater]):
            found = greater
            break
    for literal, _ in bits[len(found) :]:
        found.append(-literal if asked.formula.solve([*kept, *found, -literal]) else literal)
    return found
