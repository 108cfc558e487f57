"""A breadth-first search that remembers how each item was reached first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from assay.checker.covering.runs import CoverItem, GuardRefusal
from assay.checker.interpreter.actions.action import ActionMeaning, Arguments, guards
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import EnginesDisagreeError, State, Step
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

Labels = dict[str, set[str]]
"""Labels of guards by action."""
ALONE = 100
TURN = 20


@dataclass(slots=True, eq=False)
class PathNode:
    """A state with one shortest way to it; ``step`` is None in an initial state, whose number is ``initial``."""

    state: State
    initial: int
    before: PathNode | None = None
    step: Step | None = None
    depth: int = 0

    def after(self, step: Step) -> PathNode:
        """The node behind a step."""
        return PathNode(step.state, self.initial, self, step, self.depth + 1)

    def nodes(self) -> list[PathNode]:
        """All nodes from the initial state to this one."""
        found, node = [self], self.before
        while node is not None:
            found.append(node)
            node = node.before
        return found[::-1]


def guard_labels(model: Model) -> Labels:
    """The ``when`` lines of each step of the system; what only a bound refuses is no rule that a system knows."""
    return {each.node.name: {g.label for g in guards(each.node) if g.kind == "when"} for each in model.steps}


def all_items(model: Model, kinds: Collection[str]) -> Iterator[CoverItem]:
    """What there is to cover, in the order of the model."""
    names = [each.node.name for each in model.steps]
    if "actions" in kinds:
        yield from (CoverItem("actions", (name,)) for name in names)
    if "guards" in kinds:
        labels = guard_labels(model)
        for each in model.steps:
            own = [g.label for g in guards(each.node) if g.label in labels[each.node.name]]
            yield from (CoverItem("guards", (each.node.name, label)) for label in dict.fromkeys(own))
    if "pairs" in kinds:
        yield from (CoverItem("pairs", (first, second)) for first in names for second in names)


def look(model: Model, state: State, wanted: Labels) -> Iterator[Step | GuardRefusal]:
    """The steps from a state, and for each of the ``wanted`` guards the first instance that it alone refuses there."""
    for action in model.steps:
        name, possible = action.node.name, False
        # A copy, because a guard that was met here stays wanted in other states.
        left, refused = set(wanted.get(name, ())), dict[str, Arguments]()
        for arguments in action.instances:
            action.decisive.difference_update(left)  # so that the walk through the body notes them anew
            found = action.outcomes(state, arguments)
            for outcome in found:
                if isinstance(outcome, Successor):
                    possible = True
                    yield Step(name, tuple(zip(action.names, arguments, strict=True)), outcome.picks, outcome.state)
            # What was cut by a bound is refused by no guard, though it is not possible either.
            if not found and left & action.decisive:
                label = _only_guard(action, state, arguments)
                if label in left:
                    left.discard(label)
                    refused[label] = arguments
        # Only now it is known whether the action is possible with other arguments.
        yield from (GuardRefusal(name, arguments, label, possible) for label, arguments in refused.items())


def _only_guard(action: ActionMeaning, state: State, arguments: Arguments) -> str:
    """The guard that refuses an instance, if there is one alone for the picks that come closest to being possible."""
    closest = min(action.false_guards(state, arguments), key=len, default=())
    is_guard = len(closest) == 1 and isinstance(closest[0].node, k.Guard) and closest[0].undefined is None
    return closest[0].label if is_guard else ""


class CoveringSearch:
    """Looks at states level by level, until everything is found, ``most`` states were looked at, or it is ``over`` for the
    reason that this gives.

    ``found`` has for each item the node where a shortest run to it ends, and a refusal that is met there. Of several
    refusals it is one that tells more. ``first`` is called when the initial states are known. In a search of more than
    ``ALONE`` states every ``TURN`` states are followed by ``beside``, which may look at as many. What it finds has
    longer runs. What ``never`` tells then is not looked for any more.
    """

    def __init__(self, model: Model, kinds: Collection[str], most: int, over: Callable[[], str | None]) -> None:
        self.found: dict[CoverItem, tuple[PathNode, GuardRefusal | None]] = {}
        self.missing = set(all_items(model, kinds))
        self.looked_at = self.depth = 0
        self.initial: dict[State, int] = {}
        self.first: Callable[[], None] = lambda: None
        self.beside: Callable[[int], None] = lambda _: None
        self.never: Callable[[], Collection[CoverItem]] = tuple
        self.stopped: str | None = None
        self._model = model
        self._never: frozenset[str] = frozenset()
        self._most = most
        self._over = over
        self._wanted = guard_labels(model) if "guards" in kinds else {}
        self._arrivals: dict[State, dict[str, PathNode]] = {}
        self._possible: dict[State, dict[str, Step]] = {}

    def run(self, *, first_alone: bool) -> None:
        """Search from all initial states, or from the first one."""
        level: list[PathNode] = []
        states = (each.state for each in self._model.init.outcomes() if isinstance(each, Successor))
        for number, state in enumerate(states):
            if state not in self._arrivals and not (first_alone and number):
                self._arrivals[state] = {}
                self.initial[state] = number
                level.append(PathNode(state, number))
        self.first()
        # A guard that was met stays wanted until a refusal of it tells more, so the search may go on when nothing is
        # missing.
        while level and (self.missing or any(self._wanted.values())) and self.stopped is None:
            self.depth = level[0].depth
            level = [new for node in level for new in self._turn(node)]

    def note_first(self, item: CoverItem, node: PathNode, refusal: GuardRefusal | None) -> None:
        """Keep how an item was reached that is still missing."""
        if item in self.missing:
            self.missing.discard(item)
            self.found[item] = (node, refusal)

    def _turn(self, node: PathNode) -> list[PathNode]:
        found = self._expand(node)
        if self.looked_at == ALONE and self.missing and self.stopped is None:
            self._give_up(self.never())
        if self.looked_at > ALONE and not self.looked_at % TURN and self.stopped is None:
            self.beside(TURN)
        return found

    def _give_up(self, never: Collection[CoverItem]) -> None:
        """Look no more for these. Raises ``EnginesDisagreeError`` for one that was found."""
        # Two engines that contradict each other are a bug of one of them, and never a finding about the spec.
        if found := self.found.keys() & never:
            raise EnginesDisagreeError(f"an engine says that no run covers `{min(found)}`, and a run does")
        self.missing.difference_update(never)
        self._never = frozenset(item.names[0] for item in never if item.kind == "actions")
        for item in never:
            if item.kind == "guards":
                self._wanted[item.names[0]].discard(item.names[1])

    def _expand(self, node: PathNode) -> list[PathNode]:
        """The nodes of new states behind this one."""
        if self.looked_at >= self._most:
            self.stopped = f"the limit of {self._most:,} states was reached"
        self.stopped = self.stopped or self._over()
        if self.stopped is not None:
            return []
        self.looked_at += 1
        possible: dict[str, Step] = {}
        fresh = [new for each in look(self._model, node.state, self._wanted) for new in self._see(node, each, possible)]
        self._possible[node.state] = possible
        # Ways on from this state are known only now, and some arrivals came before.
        for action, arrival in self._arrivals[node.state].items():
            self._note_pairs(action, arrival, possible)
        return fresh

    def _see(self, node: PathNode, each: Step | GuardRefusal, possible: dict[str, Step]) -> Iterator[PathNode]:
        if isinstance(each, GuardRefusal):
            self._note_refusal(node, each)
            return
        action = str(each.action)
        if action in self._never:
            raise EnginesDisagreeError(f"an engine says that `{action}` never happens, and it does: {node.state}")
        child = node.after(each)
        # The first step of each action is enough: pairs ask whether an action is possible, not how often.
        if possible.setdefault(action, each) is each:
            self._note(CoverItem("actions", (action,)), child)
        is_new = each.state not in self._arrivals
        arrivals = self._arrivals.setdefault(each.state, {})
        if action not in arrivals:
            arrivals[action] = child
            self._note_pairs(action, child, self._possible.get(each.state, {}))
        if is_new:
            yield child

    def _note_pairs(self, action: str, arrival: PathNode, possible: dict[str, Step]) -> None:
        for second, step in possible.items():
            self._note(CoverItem("pairs", (action, second)), arrival.after(step))

    def _note_refusal(self, node: PathNode, refusal: GuardRefusal) -> None:
        """Keep the first refusal by a guard, and in its place the first that tells more."""
        item = CoverItem("guards", (refusal.action, refusal.label))
        if item in self.missing or refusal.tells:
            self.missing.discard(item)
            self.found[item] = (node, refusal)
        # With one instance no refusal tells more than this one, so the guard is not looked for any more.
        if refusal.tells or len(self._model.actions[refusal.action].instances) == 1:
            self._wanted[refusal.action].discard(refusal.label)

    def _note(self, item: CoverItem, node: PathNode) -> None:
        """Keep how an item was reached, if it is wanted and was not reached by fewer steps before."""
        if item in self.missing or (item in self.found and node.depth < self.found[item][0].depth):
            self.missing.discard(item)
            self.found[item] = (node, None)
