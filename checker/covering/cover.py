"""Few runs that cover what a search found: the one that covers most comes first, then what covers most of the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from assay.checker.covering.runs import CoveringRun, CoveringRuns, CoverItem, GuardRefusal, NeverCovered, RunStep
from assay.checker.covering.search import CoveringSearch, PathNode, all_items, guard_labels, look
from assay.checker.covering.walks import LongRuns
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.report import State, Step
from assay.checker.results.show_instance import show_instance
from assay.grammar.kernel import Kernel

Places = Mapping[CoverItem, tuple[int, GuardRefusal | None]]
"""For each item that a run exercises, how many of its steps lead there first."""


def covering_runs(
    kernel: Kernel,
    kinds: Collection[str],
    most: int,
    over: Callable[[], str | None] = lambda: None,
    *,
    first_alone: bool = False,
    never: Callable[[], NeverCovered | None] = lambda: None,
) -> CoveringRuns:
    """Runs that cover what can be reached within ``most`` states and before it is ``over``, each step of which is the reference evaluator's.

    With ``first_alone`` all runs begin in the first initial state. The run to each item is a shortest one; runs whose
    items others cover are left out. In a larger model ``never`` is asked what no run covers. Raises ``SpecError`` if the instances of an action are too many to list.
    """
    model = Model(kernel)
    known: list[NeverCovered] = []

    def given_up() -> Collection[CoverItem]:
        known.extend([] if (found := never()) is None else [found])
        return known[0].items if known else ()

    with deep_recursion(kernel):
        search = CoveringSearch(model, kinds, most, over)
        long_runs = LongRuns(model, search, over)
        search.first, search.beside = long_runs.scenarios, long_runs.go
        search.never = given_up
        search.run(first_alone=first_alone)
        runs = _Selection(model, search).run()
    items = tuple(all_items(model, kinds))
    missed = tuple(each for each in items if each not in search.found)
    if search.stopped is None and not (known and known[0].items.issuperset(missed)):
        known = [NeverCovered(frozenset(missed), search.looked_at)]  # it has looked at all itself, at pairs too
    whole = known[0] if known else NeverCovered()
    return CoveringRuns(
        kernel, tuple(runs), items, missed, search.looked_at, search.depth, search.stopped, whole.items, whole.states
    )


class _Selection:
    """Chooses among the runs that were found."""

    def __init__(self, model: Model, search: CoveringSearch) -> None:
        self._model = model
        self._found = search.found
        self._refusals: dict[State, list[GuardRefusal]] = {}
        self._in_time = search.stopped is None
        for node, refusal in search.found.values():
            if refusal is not None and not self._in_time:
                self._refusals.setdefault(node.state, []).append(refusal)

    def run(self) -> list[CoveringRun]:
        """Runs of which each covers something that those before it do not."""
        candidates = [node for node, _ in self._found.values()]
        exercised = {node: self._places(node) for node in candidates}
        left, chosen = set(self._found), []
        while left:
            # The greedy choice of set cover. Of runs that cover as much it takes the shortest.
            best = max(candidates, key=lambda node: (len(exercised[node].keys() & left), -node.depth))
            covers = sorted(exercised[best].keys() & left)
            chosen.append(self._covering_run(best, {item: exercised[best][item] for item in covers}))
            left.difference_update(covers)
        return chosen

    def _places(self, node: PathNode) -> Places:
        path = node.nodes()
        places: dict[CoverItem, tuple[int, GuardRefusal | None]] = {}
        steps = [each.step for each in path[1:] if each.step is not None]
        names = [str(each.action) for each in steps]
        for at, name in enumerate(names, 1):
            places.setdefault(CoverItem("actions", (name,)), (at, None))
        # A pair is complete after its second step, and the first pair after two.
        for at, pair in enumerate(pairwise(names), 2):
            places.setdefault(CoverItem("pairs", pair), (at, None))
        for at, each in enumerate(path):
            for refusal in self._refused(each.state):
                item = CoverItem("guards", (refusal.action, refusal.label))
                known = self._found.get(item, (None, None))[1]
                # A refusal that tells less must not take the place of one that tells more.
                if known is not None and refusal.tells >= known.tells:
                    places.setdefault(item, (at, refusal))
        return {item: place for item, place in places.items() if item in self._found}

    def _refused(self, state: State) -> Sequence[GuardRefusal]:
        """The guards that refuse something alone in a state, of those that were found to do so anywhere. When the time is
        over, only those that were found there.
        """
        if not self._in_time:
            return self._refusals.get(state, ())
        if not any(item.kind == "guards" for item in self._found):
            return ()
        if state not in self._refusals:
            found = look(self._model, state, guard_labels(self._model))
            self._refusals[state] = [each for each in found if isinstance(each, GuardRefusal)]
        return self._refusals[state]

    def _covering_run(self, node: PathNode, covers: Places) -> CoveringRun:
        """The run up to its last place that is wanted, with the refusals there are to meet."""
        path = node.nodes()
        steps: list[RunStep] = []
        for at in range(max(place for place, _ in covers.values()) + 1):
            step = path[at].step
            if step is not None:
                steps.append(RunStep(self._text(step), step))
            met = [refusal for place, refusal in covers.values() if place == at and refusal is not None]
            steps += [RunStep(self._text(each), each) for each in met]
        return CoveringRun(node.initial, path[0].state, tuple(steps), tuple(covers))

    def _text(self, each: Step | GuardRefusal) -> str:
        action = self._model.actions[str(each.action)].node
        if isinstance(each, GuardRefusal):
            return f"{show_instance(action, each.arguments)} is refused by {each.label}"
        return show_instance(action, [value for _, value in each.arguments], each.picks)
