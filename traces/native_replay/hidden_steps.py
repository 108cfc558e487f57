"""Steps without a line in compiled replay: where no line can come, the fewest hidden steps after which one can.

The hidden actions are rules of the program like those of lines, and each of their instances is a line that states its
arguments. One call of machine code asks for all instances whether the waiting line can come after each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.checker.layout.row import Rows
from assay.checker.native.trace_rules import EncodedLines, RuleProgram, RuleSteps
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.search.transition_system import ANY, TraceModel

MOST_INSTANCES = 256
"""With more instances of hidden actions than this, hidden steps are left to the search."""

MOST_ROWS = 512
"""How many states hidden steps may lead to before the search is asked."""


def hidden_rules(model: TraceModel) -> tuple[k.TraceRule, ...]:
    """A rule for each hidden action, as if a line reported it with all its arguments. There are none where compiled
    code cannot take them, or has too many to try.
    """
    instances = 0
    rules: list[k.TraceRule] = []
    for name in model.plan.hidden:
        action = model.kernel.action(name)
        wanted = (ANY,) * len(action.parameters)
        simple = all(isinstance(each.domain, k.TypeDomain) for each in action.parameters)
        if not simple or any(isinstance(each, k.Pick) for each in action.body) or not model.is_listable(name, wanted):
            return ()
        instances += len(model.instances(name, wanted))
        if instances > MOST_INSTANCES:
            return ()
        fields = tuple(k.EventField(each.binder.name, each.binder) for each in action.parameters)
        call = k.ActionCall(name, tuple(each.binder for each in action.parameters), span=action.span)
        rules.append(k.TraceRule(name, name, fields, None, ((call,),), None, None, span=action.span))
    return tuple(rules)


@dataclass(frozen=True, slots=True)
class HiddenInstance:
    """A hidden action with its arguments, by parameter."""

    action: str
    arguments: tuple[tuple[str, Value], ...]


class HiddenSteps:
    """The instances of the hidden actions of a program; at most ``limit`` of them come in a row.

    ``lines`` has each instance at an even place, and behind it the line that is to come after it.
    """

    def __init__(self, model: TraceModel, program: RuleProgram, rules: Sequence[k.TraceRule], first: int) -> None:
        """The rules of :func:`hidden_rules`, of which the first has the number ``first`` in the program."""
        self.limit, self.instances = model.plan.hidden_limit, list[HiddenInstance]()
        words = program.stated_words
        numbers, logged = list[int](), list[Rows]()
        for number, rule in enumerate(rules, first):
            names = [each.field for each in rule.fields]
            for arguments in model.instances(rule.event, (ANY,) * len(names)):
                row = np.zeros(words, np.uint64)
                row[: program.logged[number].words] = program.logged[number].pack(arguments)
                self.instances.append(HiddenInstance(rule.event, tuple(zip(names, arguments, strict=True))))
                numbers.append(number)
                logged.append(row)
        count = len(numbers)
        self.lines = EncodedLines(
            np.repeat(np.array(numbers, np.int32), 2),
            np.repeat(np.array(logged, np.uint64).reshape(count, words), 2, axis=0),
            np.zeros(2 * count, np.uint8),
        )
        self._bounds = np.arange(0, 2 * count + 1, 2, dtype=np.int64)

    def take(self, steps: RuleSteps, row: Rows, taken: Sequence[int]) -> None:
        """Take some instances, by number, one after the other; ``row`` is changed in place."""
        for each in taken:
            steps.follow(row, self.lines, 2 * each, 2 * each + 1)

    def before(self, steps: RuleSteps, row: Rows, lines: EncodedLines, at: int, most: int) -> tuple[int, ...] | None:
        """The fewest instances, at most so many, after which the line at a place can come; None if none is found."""
        # Behind each instance stands the waiting line: both come (done), only the instance does (moved), or neither.
        self.lines.rules[1::2], self.lines.logged[1::2] = lines.rules[at], lines.logged[at]
        frontier: list[tuple[Rows, tuple[int, ...]]] = [(row, ())]
        seen = {row.tobytes()}
        for _ in range(most):
            following = list[tuple[Rows, tuple[int, ...]]]()
            for now, taken in frontier:
                reached = steps.follow_each(now, self.lines, self._bounds)
                done = np.flatnonzero(reached == self._bounds[1:])
                # Breadth first, so that the first instances after which the line can come are also the fewest.
                if len(done):
                    return (*taken, int(done[0]))
                # An instance that changes nothing leads nowhere new. A violated property gives a negative number, which
                # is neither.
                moved = (reached == self._bounds[1:] - 1) & ((self.lines.changes[::2] & 1) == 1)
                for each in np.flatnonzero(moved).tolist():
                    after = now.copy()
                    self.take(steps, after, (each,))
                    if (key := after.tobytes()) not in seen:
                        seen.add(key)
                        following.append((after, (*taken, each)))
            if len(seen) > MOST_ROWS:
                return None
            frontier = following
        return None
