"""One question about a window: is there a beginning from which its lines are explained? If not, which of them contradict
each other?

Before each line up to a number of hidden steps may happen. A line that is switched off has not vanished: the bits that
it may write are open again after it, within the invariants. Only so does a core refute the log, and not a log without
those lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import combinations, product

from assay.checker.aig.graph import FALSE as NEVER
from assay.checker.aig.graph import Gates
from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.symbolic.encode.permutation_slots import places
from assay.checker.symbolic.sat.clause_blocks import FALSE, TRUE, BlockFormula, ClauseBlock, block_of
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.search.submodel import steps_of
from assay.traces.search.transition_system import ANY, TraceModel
from assay.traces.windows.template import ActionInstance, GuardName, Template
from assay.traces.windows.window_model import HiddenCall, WindowItem, WindowModel

Frame = list[int]
"""The solver's literals of the bits of a state."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is known of the order of a window's lines, by number: which come before each, and which may have happened
    outside the window. Others are not believed: whatever they may write is open after them."""

    before: tuple[tuple[int, ...], ...]
    optional: frozenset[int] = frozenset()
    doubted: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may happen between the lines of a window. So many hidden steps may come before each line, those of unlogged
    writers or not, and ``lost`` steps that a line told which was lost. Before the lines of ``wide``, by number,
    ``WIDE`` steps may come, also of unlogged writers. Whatever ``skipped`` lines may write may have changed, or
    ``everything`` that there is. With ``unbounded`` unlogged writers may take any number of steps: what they may write
    is open."""

    hidden: int = 1
    wide: frozenset[int] = frozenset()
    unlogged: bool = False
    unbounded: bool = False
    lost: int = 0
    skipped: tuple[WindowItem, ...] = ()
    everything: bool = False


WIDE = 3
"""How many hidden steps a window allows where its lines contradict each other with one. Three explain most of them."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The steps that may lead from one frame to the next. Each has the literal that says that it happens, and the
    literals of its open arguments.
    """

    steps: tuple[tuple[ActionInstance, int, tuple[tuple[int, tuple[int, ...]], ...]], ...]


@dataclass(slots=True)
class Slot:
    """A place in the order: the frame before its line's steps, and for each line whether it is here."""

    begin: int
    here: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Mux:
    """The bits after one of several steps: a block, and the inputs that choose."""

    block: ClauseBlock
    fires: tuple[int, ...]
    reopened: tuple[int, ...]
    writes: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """What can be left out of a question: a line by number, a guard, or a property by name."""

    kind: str
    line: int = -1
    guard: GuardName = ("", "")
    name: str = ""


@dataclass(slots=True)
class _Parts:
    """What was built so far."""

    frames: list[Frame] = field(default_factory=list)
    steps: list[Chosen] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    lines: dict[int, int] = field(default_factory=dict)
    guards: dict[GuardName, int] = field(default_factory=dict)
    properties: dict[str, int] = field(default_factory=dict)


class OpenWindow:
    """The lines of a window from a free beginning. Raises ``SpecError`` or ``UnsupportedError`` where the model has no
    encoding."""

    def __init__(
        self, template: Template, window: WindowModel, order: Order, allowed: Allowance, conflicts: int
    ) -> None:
        self.template, self.window = template, window
        self.formula = BlockFormula(conflicts)
        self._order, self._allowed = order, allowed
        self.parts = _Parts()
        self._steps = [instances_of(template, window.model, item) for item in window.items]
        shown = [each for each in window.hidden if not each.lost] if allowed.hidden else []
        self._hidden = _instances_of_calls(template, (each for each in shown if allowed.unlogged or not each.unlogged))
        self._wide = _instances_of_calls(template, shown) if allowed.wide else ()
        self._lost = _instances_of_calls(template, (each for each in window.hidden if each.lost and allowed.lost))
        skipped = [instances_of(template, window.model, item) for item in allowed.skipped]
        written = [each for steps in skipped for step in steps for each in step]
        if allowed.unbounded:
            unlogged = [each for each in window.hidden if each.unlogged]
            written += [each for call in unlogged for each in _hidden_instances(template, call)]
        bits = (bit for each in written for bit in each.writes)
        self._skipped = frozenset(range(template.width) if allowed.everything else bits)
        self._one_way = {} if allowed.everything else one_way(template, written)
        self._conditions = [condition_of(template, item) for item in window.items]
        kinds = ("invariant", "lemma", "transition")
        self._properties = [
            (each, template.property(each), _bits_read(template, each))
            for each in window.kernel.properties
            if each.kind in kinds and self._counts(each)
        ]
        self._last_event: Event | None = None
        self._build()

    def close(self) -> None:
        """Free the solver."""
        self.formula.close()

    # --------------------------------------------------------------------------------------------------- building

    def _build(self) -> None:
        new, parts, template = self.formula.fresh, self.parts, self.template
        parts.lines = {number: new() for number in range(len(self.window.items))}
        parts.guards = {key: new() for key in template.switches}
        parts.properties = {each.name: new() for each, _, _ in self._properties}
        # A switch of the template means that a guard is off, the solver's literal that it is asked for.
        self._given = {switch >> 1: -parts.guards[key] for key, switch in template.switches.items()}
        # The beginning: any bits that are a state, within the invariants.
        parts.frames.append([new() for _ in range(template.width)])
        everything = frozenset(template.bits_of)
        self.formula.add(self._at((template.is_state(everything),), parts.frames[0]))
        self._keep_properties(TRUE, frozenset(range(template.width)), first=True)
        self.present = [
            self.formula.fresh() if number in self._order.optional else TRUE for number in range(len(self.window.items))
        ]
        for here in _slots(self.formula, self._order.before):
            self._slot(here)

    def _at(self, roots: tuple[int, ...], frame: Frame, before: Frame | None = None) -> list[int]:
        """Literals of the template, read at a frame."""
        given = self._given | {bit >> 1: mine for bit, mine in zip(self.template.state, frame, strict=True)}
        if before is not None:
            given |= {bit >> 1: mine for bit, mine in zip(self.template.old, before, strict=True)}
        return self.formula.place(self.template.block(roots), given)

    def _keep_properties(self, where: int, touched: frozenset[int], *, first: bool = False, dear: bool = False) -> None:
        """Require the invariants of the last frame, and the transition properties of the step to it, where some bits
        were opened."""
        frames = self.parts.frames
        for prop, root, read in self._properties:
            # A property that reads no opened bit is as true as it was before. Before the first frame there is no step.
            if read.isdisjoint(touched) or (first and prop.kind == "transition"):
                continue
            if not self._is_kept(prop, root, dear=dear):
                continue
            before = frames[-2] if prop.kind == "transition" else None
            (literal,) = self._at((root,), frames[-1], before)
            self.formula.add([-where, -self.parts.properties[prop.name], literal])

    def keep_since(self, before: Frame, names: frozenset[str]) -> None:
        """Require these transition properties from a state, as literals, to the first frame."""
        for prop, root, _ in self._properties:
            if prop.name in names:
                (literal,) = self._at((root,), self.parts.frames[0], before)
                self.formula.add([-self.parts.properties[prop.name], literal])

    def _counts(self, prop: k.Property) -> bool:  # noqa: ARG002 - slices look at it
        """Whether a property is required at all. The gates of others are not made: they may be large."""
        return True

    def _is_kept(self, prop: k.Property, root: int, *, dear: bool) -> bool:  # noqa: ARG002 - slices look at them
        """Whether a property, of which this is the literal, is required where bits are open."""
        return not dear

    def _slot(self, here: dict[int, int]) -> None:
        events = [self.window.items[number].observation.event for number in here]
        # The rules about one event see one moment.
        same = all(each is self._last_event for each in events)
        self._last_event = events[0] if all(each is events[0] for each in events) else None
        # What skipped lines write may come before the hidden steps or after them, so states are opened on both sides.
        # Nothing is opened before the first line: the beginning is free anyway.
        if self._skipped and self.parts.slots:
            self._open_frame()
        if not same:
            self._hidden_frames(here)
        if self._skipped and self.parts.slots:
            self._open_frame()
        begin = len(self.parts.frames) - 1
        self.parts.slots.append(Slot(begin, here))
        for at in range(max((len(self._steps[number]) for number in here), default=0)):
            self._step_frame({number: each for number, each in here.items() if at < len(self._steps[number])}, at)
        for number, each in here.items():
            self._require(number, each, begin, begin + len(self._steps[number]))

    def _require(self, number: int, place: int, begin: int, after: int) -> None:
        """Require the condition of a line, where it is at this place, of two frames by number."""
        if (condition := self._conditions[number]) is not None:
            (literal,) = self._at((condition,), self.parts.frames[after], self.parts.frames[begin])
            self.formula.add([-self.parts.lines[number], -place, -self.present[number], literal])

    def _open_frame(self) -> None:
        """Whatever the skipped lines may write, within the invariants."""
        frame = self.parts.frames[-1]
        self.parts.frames.append([self.formula.fresh() if at in self._skipped else bit for at, bit in enumerate(frame)])
        for at, way in self._one_way.items():
            self.formula.add([-way * self.parts.frames[-1][at], way * frame[at]])
        self.parts.steps.append(Chosen(()))
        names = frozenset(n for n, bits in self.template.bits_of.items() if not self._skipped.isdisjoint(bits))
        self.formula.add(self._at((self.template.is_state(names),), self.parts.frames[-1]))
        self._keep_properties(TRUE, self._skipped)

    def _hidden_frames(self, here: Iterable[int]) -> None:
        """Hidden steps before one of some lines, and between them those that lost lines told: as many before one as
        after it."""
        if not self._allowed.wide.isdisjoint(here):
            for _ in range(max(WIDE, self._allowed.hidden)):
                self._unseen_frame(self._wide)
            return
        for _ in range(self._allowed.hidden):
            self._unseen_frame(self._hidden)
        for _ in range(self._allowed.lost if self._lost else 0):
            self.parts.lost.append(len(self.parts.steps))
            self._unseen_frame(self._lost)
            for _ in range(self._allowed.hidden):
                self._unseen_frame(self._hidden)

    def _unseen_frame(self, steps: tuple[ActionInstance, ...]) -> None:
        mux = _hidden_mux(self.template, steps)
        choice = [self.formula.fresh() for _ in mux.fires]
        self._next_frame(mux, steps, choice, (), numbered=True)

    def _step_frame(self, here: dict[int, int], at: int) -> None:
        groups = [tuple(self._steps[number][at]) for number in here]
        mux = step_mux(self.template, tuple(groups))
        fires: list[int] = []
        reopened: list[int] = []
        for (number, place), group in zip(here.items(), groups, strict=True):
            # A line that is asked for takes exactly one of its instances. Switched off it takes none: its bits are open.
            acts = self.formula.all_of([place, self.present[number]])
            on = self.parts.lines[number]
            # The usual case, in which no literal must choose: the line itself says that its step happens.
            if len(group) == 1:
                mine = [self.formula.all_of([acts, on])]
            else:
                mine = [self.formula.fresh() for _ in group]
                self.formula.add([-acts, -on, *mine])
                for each in mine:
                    self.formula.add([-each, acts])
                    self.formula.add([-each, on])
                for one, other in combinations(mine, 2):
                    self.formula.add([-one, -other])
            fires += mine
            reopened.append(self.formula.all_of([acts, -on]))
        self._next_frame(mux, [each for group in groups for each in group], fires, reopened)
        touched = frozenset().union(*mux.writes)
        # Where a line is believed, invariants follow from its step. Required there, they would refute a healthy log
        # in which an action of the log itself breaks one.
        where = self.formula.any_of(reopened)
        names = frozenset(n for n, bits in self.template.bits_of.items() if not touched.isdisjoint(bits))
        if names:
            (valid,) = self._at((self.template.is_state(names),), self.parts.frames[-1])
            self.formula.add([-where, valid])
            self._keep_properties(where, touched)

    def _next_frame(
        self,
        mux: _Mux,
        steps: Sequence[ActionInstance],
        fires: Sequence[int],
        reopened: Sequence[int],
        *,
        numbered: bool = False,
    ) -> None:
        frame = self.parts.frames[-1]
        given = self._given | {bit >> 1: mine for bit, mine in zip(self.template.state, frame, strict=True)}
        given |= {node >> 1: literal for node, literal in zip(mux.fires, fires, strict=True)}
        given |= {node >> 1: literal for node, literal in zip(mux.reopened, reopened, strict=True)}
        open_: list[tuple[tuple[int, tuple[int, ...]], ...]] = []
        for each in steps:
            named = tuple((at, tuple(self.formula.fresh() for _ in bits)) for at, bits in each.free)
            given |= {
                node >> 1: literal
                for (_, bits), (_, literals) in zip(each.free, named, strict=True)
                for node, literal in zip(bits, literals, strict=True)
            }
            open_.append(named)
        found = self.formula.place(mux.block, given)
        after, more = found[: self.template.width], found[self.template.width :]
        if not numbered:
            for literal in more:
                self.formula.add([literal])
        happens = more if numbered else fires
        self.parts.frames.append(after)
        self.parts.steps.append(Chosen(tuple(zip(steps, happens, open_, strict=True))))

    # ---------------------------------------------------------------------------------------------------- answers

    @property
    def switches(self) -> dict[int, Switch]:
        """What can be left out, by the solver's literal that asks for it."""
        found = {literal: Switch("line", line=number) for number, literal in self.parts.lines.items()}
        found |= {literal: Switch("guard", guard=key) for key, literal in self.parts.guards.items()}
        return found | {literal: Switch("property", name=name) for name, literal in self.parts.properties.items()}

    def believes(self, number: int) -> bool:
        """Whether a line is asked for."""
        return number not in self._order.doubted

    @property
    def asked(self) -> list[int]:
        """The solver's literals that ask for everything but the lines that are not believed."""
        return [literal for literal, switch in self.switches.items() if switch.line not in self._order.doubted]

    def is_explained(self) -> bool:
        """Whether some beginning and some behaviour explain all lines. Raises ``UnansweredError``."""
        return self.formula.solve(self.asked)

    def core(self) -> list[Switch]:
        """What contradicts itself, after a refutation: without any one of these there is an explanation. Lines are left
        out first, so that as few as possible remain. Raises ``UnansweredError``."""
        known = self.switches
        rank = {"line": 0, "property": 1, "guard": 2}
        needed = sorted(self.formula.core(), key=lambda each: (rank[known[each].kind], each))
        for each in tuple(needed):
            if each in needed:
                # One at a time, because a smaller core is a better finding: two lines say more than five.
                fewer = [other for other in needed if other != each]
                if not self.formula.solve(fewer):
                    found = self.formula.core()
                    # The refutation of fewer may use still fewer: what it leaves out need not be tried.
                    needed = [other for other in fewer if other in found]
        return [known[each] for each in needed]


def instances_of(template: Template, model: TraceModel, item: WindowItem) -> list[list[ActionInstance]]:
    """The instances that each step of a line may be."""
    found: list[list[ActionInstance]] = []
    for calls in steps_of(model, item):  # type: ignore[arg-type]  # it has an observation, which is all that is read
        # What a line leaves open is an open argument: an instance for each value would be gates for each.
        asked = dict.fromkeys((action, tuple(None if v is ANY else v for v in wanted)) for action, wanted in calls)
        found.append([each for action, given in asked for each in template.instances(action, given)])
    return found


def _instances_of_calls(template: Template, calls: Iterable[HiddenCall]) -> tuple[ActionInstance, ...]:
    return tuple(each for call in calls for each in _hidden_instances(template, call))


def one_way(template: Template, steps: Iterable[ActionInstance]) -> dict[int, int]:
    """The bits that some steps can only clear (1), or only set (-1), by position. Who is only stopped by them does not
    run again."""
    after: dict[int, set[int]] = {}
    for each in steps:
        for at in each.writes:
            after.setdefault(at, set()).add(each.after[at])
    found: dict[int, int] = {}
    for at, values in after.items():
        bit = template.state[at]
        if all(_implies(template.gates, value, bit) for value in values):
            found[at] = 1
        elif all(_implies(template.gates, value ^ 1, bit ^ 1) for value in values):
            found[at] = -1
    return found


def _implies(gates: Gates, literal: int, other: int) -> bool:
    """Whether a conjunction is seen to hold only where another literal does."""
    # Looked up, not proved. A wrong "no" leaves a bit open both ways, so less is refuted.
    return literal == NEVER or other in gates.parts(literal)


def _hidden_instances(template: Template, call: HiddenCall) -> Iterator[ActionInstance]:
    for arguments in product(*(each if each is not None else (None,) for each in call.choices)):
        yield from template.instances(call.action, arguments)


def condition_of(template: Template, item: WindowItem) -> int | None:
    """Where the condition of a line holds, in a template; None if it has none."""
    condition = item.condition
    if condition is None:
        return None
    for each in item.rule.fields:
        # A `let` and no substitution: equal lines give equal conditions, whose gates the template keeps.
        value = k.Const(each.binder.type, item.observation.bound[each.binder.name])
        condition = k.LetIn(condition.type, each.binder, value, condition)
    return template.condition(condition)


def _bits_read(template: Template, prop: k.Property) -> frozenset[int]:
    names = variables_of(prop)
    return frozenset(bit for name in names for bit in template.bits_of[name])


def _hidden_mux(template: Template, steps: tuple[ActionInstance, ...]) -> _Mux:
    """One hidden step, chosen by number, or none."""
    key = ("hidden", tuple((each.action, each.arguments, each.enabled) for each in steps))
    known = template.muxes.get(key)
    if known is None:
        gates = template.gates
        # These bits have room for at least one number more than there are steps: it stands for no step.
        choice = tuple(gates.inputs(len(steps).bit_length()))
        fires = [
            gates.both(each.enabled, gates.all_of(bit ^ (number >> at & 1 ^ 1) for at, bit in enumerate(choice)))
            for number, each in enumerate(steps)
        ]
        after = _after(gates, template.state, zip(fires, steps, strict=True))
        known = _Mux(block_of(gates, (*after, *fires)), choice, (), ())
        template.muxes[key] = known
    return known  # type: ignore[return-value]


def step_mux(template: Template, groups: tuple[tuple[ActionInstance, ...], ...]) -> _Mux:
    """One of the steps of some lines; the bits that a line may write are open if it is reopened."""
    key = ("steps", tuple(tuple((each.action, each.arguments, each.enabled) for each in group) for group in groups))
    known = template.muxes.get(key)
    if known is None:
        gates = template.gates
        steps = [each for group in groups for each in group]
        fires = gates.inputs(len(steps))
        reopened = gates.inputs(len(groups))
        writes = tuple(frozenset().union(*(each.writes for each in group)) for group in groups)
        after = _after(gates, template.state, zip(fires, steps, strict=True))
        for at in sorted(frozenset().union(*writes)):
            opened = gates.any_of(each for each, bits in zip(reopened, writes, strict=True) if at in bits)
            after[at] = gates.choose(opened, gates.input(), after[at])
        allowed = [gates.either(fire ^ 1, each.enabled) for fire, each in zip(fires, steps, strict=True)]
        known = _Mux(block_of(gates, (*after, *allowed)), tuple(fires), tuple(reopened), writes)
        template.muxes[key] = known
    return known  # type: ignore[return-value]


def _after(gates: Gates, state: Sequence[int], steps: Iterable[tuple[int, ActionInstance]]) -> list[int]:
    """The bits after the step that happens, or those before if none does."""
    writers: list[dict[int, list[int]]] = [{} for _ in state]
    for fire, each in steps:
        for at in each.writes:
            writers[at].setdefault(each.after[at], []).append(fire)
    found: list[int] = []
    for bit, own in zip(state, writers, strict=True):
        written = {value: gates.any_of(fires) for value, fires in own.items()}
        kept = gates.both(bit, gates.any_of(written.values()) ^ 1) if written else bit
        found.append(
            gates.either(kept, gates.any_of(gates.both(v, w) for v, w in written.items())) if written else kept
        )
    return found


def _slots(formula: BlockFormula, before: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """For each place in the order, the literals that say which line is there."""
    gates, required = Gates(), list[Sequence[int]]()
    found = list(places(gates, before, required.append))
    # Each literal once and in order, so that the solver's variables are the same in each run.
    roots = dict.fromkeys(each for every in (*(slot.values() for slot in found), *required) for each in every)
    literals = formula.place(block_of(gates, tuple(roots)), {})
    reported = dict(zip(roots, literals, strict=True))
    for clause in required:
        formula.add([reported[each] for each in clause])
    return [{number: reported[each] for number, each in slot.items() if reported[each] != FALSE} for slot in found]
