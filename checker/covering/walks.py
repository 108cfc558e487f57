"""Targets that a breadth-first search does not reach, because they need many steps. The scenarios of a spec lead there,
and random walks go on from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from assay.checker.covering.runs import CoverItem, GuardRefusal
from assay.checker.covering.search import CoveringSearch, Labels, PathNode, look
from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import Outcome, Step
from assay.checker.results.scenario import check_scenario

LONGEST = 50
"""How many steps a walk takes before another one begins."""
BOLD = 0.7
"""How often a walk takes the action that was taken least, and not any."""


class LongRuns:
    """Follows scenarios, walks on from where something was found first, and prefers actions that were taken seldom.
    What is found is noted with the search, by the run that led there. The search puts a shorter one in its place when
    it comes there.
    """

    def __init__(self, model: Model, search: CoveringSearch, over: Callable[[], str | None]) -> None:
        self._model = model
        self._search = search
        self._over = over
        # A fixed seed: the runs should not differ from one call to the next.
        self._random = Random(0)
        self._taken: Counter[str] = Counter()
        self._node: PathNode | None = None
        self._end = 0

    def scenarios(self) -> None:
        """Follow the scenarios that hold and that begin where the search does."""
        for scenario in self._model.kernel.scenarios:
            if self._over() is not None:
                return
            found = check_scenario(self._model, scenario, {})
            steps = found.trace.steps if found.trace is not None and found.outcome is Outcome.HOLDS else ()
            initial = self._search.initial.get(steps[0].state) if steps else None
            if initial is not None:
                node = PathNode(steps[0].state, initial)
                self._possible(node)
                for step in steps[1:]:
                    self._note_step(node, step)
                    node = node.after(step)
                    self._possible(node)

    def go(self, states: int) -> None:
        """Look at so many states more, or until it is over, or everything is found."""
        for _ in range(states):
            if not self._search.missing or self._over() is not None:
                return
            if self._node is None or self._node.depth >= self._end:
                self._node = self._start()
                self._end = self._node.depth + LONGEST
            self._node = self._next(self._node)

    def _start(self) -> PathNode:
        """A place where something was found: often one of the newest. An initial state where nothing was found yet."""
        found = [node for node, _ in self._search.found.values()]
        found = found or [PathNode(state, number) for state, number in self._search.initial.items()]
        return self._random.choice(found[-20:] if self._random.random() < BOLD else found)

    def _next(self, node: PathNode) -> PathNode | None:
        """The node behind a step that was chosen; None if there is no step."""
        steps = self._possible(node)
        if not steps:
            return None
        if self._random.random() < BOLD:
            least = min(self._taken[str(each.action)] for each in steps)
            steps = [each for each in steps if self._taken[str(each.action)] == least]
        chosen = self._random.choice(steps)
        self._taken[str(chosen.action)] += 1
        return node.after(chosen)

    def _possible(self, node: PathNode) -> list[Step]:
        """The steps from here. Notes what is new here."""
        steps: list[Step] = []
        for each in look(self._model, node.state, self._missing_guards()):
            if isinstance(each, GuardRefusal):
                self._search.note_first(CoverItem("guards", (each.action, each.label)), node, each)
            else:
                steps.append(each)
                self._note_step(node, each)
        return steps

    def _note_step(self, node: PathNode, step: Step) -> None:
        action = str(step.action)
        items = [CoverItem("actions", (action,))]
        if node.step is not None:
            items.append(CoverItem("pairs", (str(node.step.action), action)))
        for item in items:
            if item in self._search.missing:
                self._search.note_first(item, node.after(step), None)

    def _missing_guards(self) -> Labels:
        wanted: Labels = {}
        for item in self._search.missing:
            if item.kind == "guards":
                wanted.setdefault(item.names[0], set()).add(item.names[1])
        return wanted
