"""The model of a window: the part that all slices share, as large as the lines of the window need. The lines are in its
terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from math import prod
from types import MappingProxyType

from assay.checker.interpreter.expressions.traverse import assignments, descendants, variables_of
from assay.checker.interpreter.values.domains import cardinality, domain
from assay.checker.interpreter.values.show import show_value
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, log_kernel
from assay.grammar.values import Atom, Value
from assay.traces.event import Event
from assay.traces.observe.decomposition import split
from assay.traces.observe.model_size import adapt_clause, is_sized, trace_plan
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation, files_tell_order
from assay.traces.observe.reported_actions import losable_actions
from assay.traces.options import Options
from assay.traces.search.transition_system import TraceModel
from assay.traces.windows.numbers import NamedNumbers, Scale, SizeProbe, ValueMap, completed, most_elements, probe_of
from assay.traces.windows.recent_values import RecentValues

ROOM = 3
"""By how much numbers may be larger than the window states, and how far numbers between two stated ones may lie."""


@dataclass(frozen=True, slots=True)
class LogPart:
    """What windows of a log are made of: the spec, its clause, the options, and which processes have logs.

    ``plan`` is the clause for what is asked: the rules of the log's items are its rules. ``of_slice``: the items are
    those of one slice, not what all slices share.
    """

    loaded: Loaded
    plan: k.TracePlan
    options: Options
    events: Sequence[Event] = ()
    of_slice: bool = False
    elements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The elements of each set parameter in the model of the whole log."""

    @property
    def begins_in_mid_life(self) -> bool:
        """Whether it may begin anywhere: as logs of Kafka do, and those whose clause says so."""
        return self.plan.begins_anywhere or not files_tell_order(self.plan)

    def processes(self, since: float) -> frozenset[str]:
        """The process runs that have whole logs, by the names that events give them: ``broker-2#2`` after a restart.

        A log whose clause says that it begins anywhere may begin in the middle of a run. It is no log of what came
        before, in a window that begins at the time ``since`` (milliseconds).
        """
        if not self.plan.begins_anywhere:
            return _logged.get_or_make(self, None, self._logged)
        return frozenset(writer_of(each) for each in self.events if (each.record.time or 0.0) <= since)

    def _logged(self) -> frozenset[str]:
        return frozenset(str(each.run) for each in self.events if each.run.node not in self.options.holes)


def writer_of(event: Event) -> str:
    """The process run whose line an event is, by the name that events give it. Where one process wrote for all nodes
    (`order: lines`), that is what the line names.
    """
    return str(event.run) or str(event.fields.get("node", ""))


_logged = RecentValues[frozenset[str]](4)
"""The processes of the last logs: a log is asked about in hundreds of windows, and has thousands of events."""


@dataclass(frozen=True, slots=True)
class WindowItem:
    """A line of the window in the window's terms: ``item`` is that of the log, ``rule`` and ``bound`` are the
    window's."""

    item: OrderedObservation
    observation: Observation

    @property
    def rule(self) -> k.TraceRule:
        """The rule by which the line is read."""
        return self.observation.rule

    @property
    def condition(self) -> k.Expr | None:
        """The condition on the state after the steps of the line, or on the state that it observes."""
        return self.rule.then if self.rule.steps else self.rule.observe


@dataclass(frozen=True, slots=True)
class HiddenCall:
    """Hidden instances of an action: the possible values of each parameter; None stands for every value of a sized
    type. They are ``unlogged`` where the writer has no logs, ``lost`` where a line about them may have been lost."""

    action: str
    choices: tuple[tuple[Value, ...] | None, ...]
    unlogged: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class WindowModel:
    """The model of a window, its hidden steps and its lines, and its names and numbers in terms of the log."""

    model: TraceModel
    kernel: k.Kernel
    items: tuple[WindowItem, ...]
    hidden: tuple[HiddenCall, ...]
    names: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, Scale]
    probe: SizeProbe

    def of(self, items: tuple[WindowItem, ...]) -> WindowModel:
        """The same model for some of the lines."""
        return replace(self, items=items)

    def birth(self) -> dict[str, Value]:
        """The state at the birth of the system, by variable: the first of its initial states."""
        state = self.model.states[self.model.initial[0]]
        return {each.name: value for each, value in zip(self.model.kernel.variables, state, strict=True)}

    def state_of(self, known: Mapping[str, Value]) -> State:
        """A state of the log in terms of the window; what is not told is as at birth."""
        types = {each.name: each.type for each in self.probe.kernel.variables}
        born, rewrite = self.birth(), _rewriter(self.probe, self.names, self.scales)
        return tuple(
            completed(rewrite(known[name], types[name]), born[name]) if name in known else born[name]
            for name in (each.name for each in self.kernel.variables)
        )

    def key_of(self, variable: str, key: Value | None) -> Value | None:
        """The key of a variable's entry in terms of the window; None stands for the whole variable."""
        type_ = next(each.type for each in self.probe.kernel.variables if each.name == variable)
        rewrite = _rewriter(self.probe, self.names, self.scales)
        return rewrite(key, type_.key) if isinstance(type_, t.MapType) and key is not None else None

    def words(self, variable: str, key: Value | None, value: Value) -> str:
        """A place and its value, in terms of the log."""
        type_ = next(each.type for each in self.probe.kernel.variables if each.name == variable)
        name = variable.rpartition(".")[2].replace("_", " ")
        if key is None:
            return f"{name} {show_value(self.as_logged(value, type_), type_)}"
        assert isinstance(type_, t.MapType)
        return f"{name} of {show_value(self.as_logged(key, type_.key), type_.key)} {show_value(self.as_logged(value, type_.value), type_.value)}"

    def as_logged(self, value: Value, type_: t.Type) -> Value:
        """A value of the window as one of the log; ``type_`` is that of the probe."""

        def element(sort: str, name: str) -> Atom:
            at = int(name.rpartition("-")[2])
            known = self.names[sort]
            return Atom(sort, at, known[at] if at < len(known) else f"unknown-{at - len(known) + 1}")

        return ValueMap(self.probe.parameters, lambda name, n: self.scales[name].number(n), element)(value, type_)

    def variable_as_logged(self, name: str, value: Value) -> Value:
        """A value of a variable, as one of the log."""
        return self.as_logged(value, next(each.type for each in self.probe.kernel.variables if each.name == name))


def elements_of(model: TraceModel) -> ValueMap:
    """Rewrites values with the elements that a model has by their names. A name that it lacks is a ``KeyError``."""
    elements = {sort.name: {name: at for at, name in enumerate(sort.elements)} for sort in model.kernel.sorts}
    return ValueMap({}, lambda _, number: number, lambda sort, name: Atom(sort, elements[sort][name], name))


def window_model(
    log: LogPart,
    items: Sequence[OrderedObservation],
    factor: int = 1,
    *,
    shared: bool = False,
    least: Mapping[str, int] = MappingProxyType({}),
    known: Mapping[str, Value] = MappingProxyType({}),
    told: Iterable[tuple[str, Value]] = (),
) -> WindowModel:
    """The model of some items; ``factor`` multiplies the room for numbers and the spare elements. Raises
    ``SpecError``.

    ``known`` are values of variables that the model has room for, and it has no spare elements then. It has room for
    values that were ``told`` of variables, too.
    A model that is ``shared`` with other windows has at least as many spare elements as theirs. Of sets without spare
    elements it then has at ``least`` so many.
    """
    # First what the lines name, then how much room the model has beside that, and last the lines in its terms.
    probe = probe_of(log.loaded, log.plan.name)
    named = _named(probe, items)
    of_lines = {name: set(each) for name, each in named.numbers.items()}
    types = {each.name: each.type for each in probe.kernel.variables}
    for name, value in (*known.items(), *told):
        named.walk(value, types[name])
    # What is counted has all its elements: two of two voters are a majority, and two of five are none.
    others = {sort: log.elements.get(sort, ()) for sort in _counted_in(probe)}
    every = {sort.name: (*named.elements.get(sort.name, ()), *others.get(sort.name, ())) for sort in probe.kernel.sorts}
    # A set parameter has one element at least, whether lines name it or not.
    names = {sort: tuple(dict.fromkeys(each)) or (f"unknown {sort}",) for sort, each in every.items()}
    spares = _spares(probe, names, factor)
    if known:
        spares = dict.fromkeys(spares, 0)
    if log.of_slice and log.plan.slicing is not None:
        # A window of a slice is about this one: another slice has no part in it.
        spares[log.plan.slicing.sort.name] = 0
    counts = {sort: len(known) + spares[sort] for sort, known in names.items()}
    scales = _scales(named, of_lines if log.of_slice else {}, factor)
    sizes = {name: scale.size for name, scale in scales.items()}
    if probe.grows and files_tell_order(log.plan):  # in logs of Kafka collections hold numbers, which the sizes count
        stated = (value for item in items for _, value in item.observation.values)
        most = most_elements(stated, len(items) + ROOM * factor)
        sizes = {name: max(size, most) for name, size in sizes.items()}
    if log.of_slice:  # windows of many slices share few models
        counts = {sort: count + count % 2 if spares[sort] else count for sort, count in counts.items()}
    if least:
        sizes = {name: max(size, LEAST_NUMBER) for name, size in sizes.items()}
    if shared:
        counts = {sort: count + -count % SHARED_STEP if spares[sort] else count for sort, count in counts.items()}
        counts = {sort: count if spares[sort] else max(count, least.get(sort, 0)) for sort, count in counts.items()}
        # Only sets with spare elements may be larger than lines need: in others one more explains too much.
        counts = _largest(log, counts, {sort for sort in counts if not spares[sort]}, sizes)
    sorts = {sort: tuple(f"{sort}-{at}" for at in range(count)) for sort, count in counts.items()}
    model, kernel = model_of_size(log, sorts, sizes)
    found = _in_window(model, items, probe, names, scales)
    logged = log.processes(min((each.time for each in items), default=0.0))
    lossy = log.options.lossy
    hidden = () if log.of_slice else tuple(hidden_calls(logged, kernel, model, names, lossy=lossy))
    return WindowModel(model, kernel, found, hidden, names, scales, probe)


def _scales(named: NamedNumbers, stated: Mapping[str, Set[int]], factor: int) -> dict[str, Scale]:
    """The order of the numbers that a window names, with room for those that it does not. Of numbers that lines of a
    slice have ``stated`` the order is that of all: versions are compared with leader epochs, for example."""
    common = set[int]().union(*stated.values())
    return {name: named.probe.scale(common | each, ROOM * factor) for name, each in named.numbers.items()}


SHARED_STEP = 4
"""In windows that share a model, sets with spare elements have a multiple of so many."""

LEAST_NUMBER = 15
"""Where many windows are to have one model, numbers go at least up to this one."""

# Sizes only grow, so that windows soon share one model instead of having one each.
_shapes: list[tuple[Loaded, object, dict[str, int]]] = []
SHAPES = 8
"""For how many kinds of windows the numbers of elements are kept."""


def _largest(log: LogPart, counts: dict[str, int], exact: Set[str], sizes: Mapping[str, int]) -> dict[str, int]:
    """How many elements of each set the windows of one size have had at most, those of ``exact`` sets apart."""
    key = log.plan.name, log.options, tuple((sort, counts[sort]) for sort in sorted(exact)), tuple(sizes.items())
    for at, (spec, known, largest) in enumerate(_shapes):
        if spec is log.loaded and known == key:
            counts = {sort: max(count, largest[sort]) for sort, count in counts.items()}
            del _shapes[at]
            break
    _shapes[:] = [(log.loaded, key, counts), *_shapes[: SHAPES - 1]]
    return counts


def count_named(log: LogPart, items: Sequence[OrderedObservation]) -> dict[str, int]:
    """How many elements of each set some items name."""
    return {sort: len(names) for sort, names in _named(probe_of(log.loaded, log.plan.name), items).elements.items()}


def _named(probe: SizeProbe, items: Sequence[OrderedObservation]) -> NamedNumbers:
    found = NamedNumbers(probe)
    for item in items:
        for each, value in _fields(probe.plan, item.observation):
            found.walk(value, each.binder.type)
    return found


def _rule_in(plan: k.TracePlan, rule: k.TraceRule) -> k.TraceRule:
    """The rule of a clause that was written at the same place, for the same event."""
    # Each size of model has its own elaborated clause. A rule keeps its place in the spec, not its identity.
    return next(each for each in plan.rules if (each.event, each.span) == (rule.event, rule.span))


def _fields(plan: k.TracePlan, seen: Observation) -> Iterator[tuple[k.EventField, Value]]:
    """The fields of an observation with the types of a clause, and their values."""
    values = [seen.bound[field.binder.name] for field in seen.rule.fields]
    return zip(_rule_in(plan, seen.rule).fields, values, strict=True)


def _spares(probe: SizeProbe, names: Mapping[str, Sequence[str]], factor: int) -> dict[str, int]:
    """How many elements each set parameter gets beside those that lines name.

    None where the state holds one element at a time: another one would explain what it must not, as another cluster
    does. None where elements are counted, but in bounds, which a window does not have. Else one; of elements that
    others are given for a while (sessions), as many as there are others.
    """
    single, counted, given = _roles.get_or_make(probe, None, lambda: _roles_of(probe))
    most = max((len(known) for sort, known in names.items() if sort not in single | given), default=0)
    return {sort: 0 if sort in single | counted else factor * (most + 1 if sort in given else 1) for sort in names}


def _counted_in(probe: SizeProbe) -> frozenset[str]:
    """The set parameters whose elements are counted."""
    return _roles.get_or_make(probe, None, lambda: _roles_of(probe))[1]


_roles = RecentValues[tuple[frozenset[str], frozenset[str], frozenset[str]]](4)


def _roles_of(probe: SizeProbe) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The set parameters of which the state holds one element at a time, whose elements are counted, and whose elements
    others have for a while."""
    variables = [each.type for each in probe.kernel.variables]
    single = {each.sort.name for each in variables if isinstance(each, t.AtomType)}
    counted = {sort for prop in probe.kernel.properties for sort in _counted(prop)}
    body = [each for action in probe.kernel.actions for each in action.body if not _is_bound(each)]
    # A quorum of more members needs more votes: a spare member would change what a majority is.
    counted |= {sort for each in body for sort in _counted(each)}
    writers = {sort for _, _, sort in writer_parameters(probe.plan)}
    given = {sort for each in variables for sort in _given(each)} - writers
    return frozenset(single), frozenset(counted), frozenset(given)


def _is_bound(node: k.Node) -> bool:
    return isinstance(node, k.Guard) and node.kind == "bound"


def _given(type_: t.Type) -> Iterator[str]:
    """The set parameter whose elements others have for a while, by the type of a variable that says which."""
    match type_:
        case t.MapType(value=t.OptionType(t.AtomType(sort))):
            yield sort.name
        case _:
            return


def _counted(node: k.Node) -> Iterator[str]:
    """The set parameters whose elements are counted in a node."""
    for each in descendants(node):
        if isinstance(each, k.Count) and isinstance(counted := each.operand, k.TypeDomain):
            yield from (counted.of.sort.name,) if isinstance(counted.of, t.AtomType) else ()


def writer_parameters(plan: k.TracePlan) -> Iterator[tuple[str, int, str]]:
    """The actions that lines of a clause name with their writer. Each has the position of the writer among its
    parameters, and the set parameter that the writer is of."""
    for rule in plan.rules:
        # The field `node` is the one that says whose line it is; other fields may name other processes.
        writer = next((each.binder for each in rule.fields if each.field == "node"), None)
        if writer is None or not isinstance(writer.type, t.AtomType):
            continue
        for call in (call for alternatives in rule.steps for call in alternatives):
            for at, given in enumerate(call.arguments):
                if isinstance(given, k.Local) and given.name == writer.name:
                    yield call.action, at, writer.type.sort.name


# To elaborate the kernel of a window takes 1 to 2 s.
_models = RecentValues[tuple[TraceModel, k.Kernel]](4)


def model_of_size(
    log: LogPart, sorts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]
) -> tuple[TraceModel, k.Kernel]:
    """The model of what all slices share, or of one slice, of this size. The last few are kept: windows of one size
    share one."""
    key = (tuple((sort, len(each)) for sort, each in sorts.items()), tuple(sizes.items()), log.plan.name, log.of_slice)
    return _models.get_or_make(log.loaded, (log.options, key), lambda: _made(log, sorts, sizes))


def _made(log: LogPart, sorts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> tuple[TraceModel, k.Kernel]:
    kernel = log_kernel(log.loaded, sorts, sizes)
    plan = adapt_clause(trace_plan(kernel, log.plan.name), log.options)
    divided = None if plan.slicing is None else split(kernel, plan.slicing)
    if divided is None:
        model = TraceModel(kernel, plan)
    else:
        part = divided.plan_of_slices(plan) if log.of_slice else divided.plan_of_shared(plan)
        model = TraceModel(divided.kernel, part)
    return model, _kernel_of(model)


def small_model(log: LogPart, elements: int, largest: int) -> k.Kernel:
    """The kernel of a window with so many elements of each set, and numbers up to this one. Raises ``SpecError``."""
    probe = probe_of(log.loaded, log.plan.name).kernel
    sorts = {sort.name: tuple(f"{sort.name}-{at}" for at in range(elements)) for sort in probe.sorts}
    if log.plan.slicing is not None:
        sorts[log.plan.slicing.sort.name] = sorts[log.plan.slicing.sort.name][:1]
    return model_of_size(log, sorts, {each.name: largest for each in probe.parameters if each.size})[1]


def _rewriter(probe: SizeProbe, names: Mapping[str, Sequence[str]], scales: Mapping[str, Scale]) -> ValueMap:
    """Rewrites values of the log in terms of a window."""
    places = {sort: {name: at for at, name in enumerate(known)} for sort, known in names.items()}

    def element(sort: str, name: str) -> Atom:
        at = places[sort][name]
        return Atom(sort, at, f"{sort}-{at}")

    return ValueMap(probe.parameters, lambda name, number: scales[name].place(number), element)


def _in_window(
    model: TraceModel,
    items: Sequence[OrderedObservation],
    probe: SizeProbe,
    names: Mapping[str, Sequence[str]],
    scales: Mapping[str, Scale],
) -> tuple[WindowItem, ...]:
    """The items in terms of the model of a window."""
    rewrite = _rewriter(probe, names, scales)
    found: list[WindowItem] = []
    for item in items:
        seen = item.observation
        rule = _rule_in(model.plan, seen.rule)
        types = [field.binder.type for field, _ in _fields(probe.plan, seen)]
        values = [rewrite(seen.bound[f.binder.name], each) for f, each in zip(seen.rule.fields, types, strict=True)]
        bound = {field.binder.name: value for field, value in zip(rule.fields, values, strict=True)}
        named = tuple((field.field, value) for field, value in zip(rule.fields, values, strict=True))
        found.append(WindowItem(item, Observation(seen.event, rule, bound, named)))
    return tuple(found)


def _kernel_of(model: TraceModel) -> k.Kernel:
    """The kernel without what no shared line, no hidden action and no invariant about these touches."""
    called = {call.action for rule in model.plan.rules for step in rule.steps for call in step}
    actions = [each for each in model.kernel.actions if each.name in called or each.name in model.plan.hidden]
    rules = [each for rule in model.plan.rules for each in (rule.then, rule.observe) if each is not None]
    used = {name for node in (*actions, *rules) for name in variables_of(node)}
    # Variables that are only written stay, because an action cannot be encoded without them.
    used |= {each.variable for action in actions for each in assignments(action.body)}
    kernel = replace(
        model.kernel,
        variables=tuple(each for each in model.kernel.variables if each.name in used),
        init=replace(model.kernel.init, body=(), conditions=()),  # a window begins in any state
        actions=tuple(actions),
        next=tuple(each.name for each in actions),
        properties=tuple(each for each in model.kernel.properties if variables_of(each) <= used),
        terminal=(),
        scenarios=(),
        traces=(),
        refinements=(),
    )
    from assay.checker.symbolic.bounded.explain_trace import (  # noqa: PLC0415 - it loads the solver
        without_bounds,
    )

    return without_bounds(kernel)


MOST_INSTANCES = 64
"""An action of an unlogged writer with more instances than this is not supposed."""


def hidden_calls(
    logged: frozenset[str], window: k.Kernel, model: TraceModel, names: Mapping[str, Sequence[str]], *, lossy: bool
) -> Iterator[HiddenCall]:
    """What may happen unseen: the hidden actions of the clause, and whatever a writer does that is not ``logged``. So
    may that of which a line may have been lost.
    """
    known = {each.name: each for each in window.actions}
    for name in model.plan.hidden:
        if name in known:
            yield HiddenCall(name, tuple(values_of(each) for each in known[name].parameters))
    for name, at, sort in dict.fromkeys(writer_parameters(model.plan)):
        action = known[name]
        choices = [values_of(each) for each in action.parameters]
        own = choices[at]
        assert own is not None
        unlogged = tuple(each for each in own if _is_unlogged(each, names[sort], logged))
        # Who has a log does this only where a line says so.
        choices[at] = unlogged
        if unlogged and _are_few(choices):
            yield HiddenCall(name, tuple(choices), unlogged=True)
    for name in losable_actions(model.plan, lossy=lossy):
        choices = [values_of(each) for each in known[name].parameters]
        # What is hidden anyway needs no line that was lost.
        if name not in model.plan.hidden and _are_few(choices):
            yield HiddenCall(name, tuple(choices), lost=True)


def _are_few(choices: Sequence[tuple[Value, ...] | None]) -> bool:
    return prod(len(each) for each in choices if each is not None) <= MOST_INSTANCES


def _is_unlogged(element: Value, names: Sequence[str], logged: frozenset[str]) -> bool:
    at = element.index  # type: ignore[attr-defined]  # an element of the writers' set
    return at >= len(names) or names[at] not in logged


def values_of(parameter: k.Parameter) -> tuple[Value, ...] | None:
    """The values of a parameter, None where they are many, or as many as a window has numbers."""
    type_ = parameter.binder.type
    return None if is_sized(type_) or cardinality(type_) > MOST_INSTANCES else domain(type_)
