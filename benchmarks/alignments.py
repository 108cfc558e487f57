"""How dear are the repairs of a log, beside an optimal alignment (van der Aalst, Adriansyah, van Dongen 2012)?

`python -m benchmarks alignments [--logs 50] [--seed 1] [--activities 8] [--wrong 3]`

Each log is of a workflow net of its own. The net is a random process tree (sequence, choice, parallel, loop), as places
that hold a token or not. Its steps are lines, and its routing transitions are hidden. The log is a run, of which up to
``--wrong`` lines are left out, put in or exchanged. A line left out of the explanation costs 1, a step without its line
1, an exchange 2, a hidden step nothing. ``equal_with_exchanges`` counts an exchange of two lines as 1, in the optimum
too. The optimum is found by Dijkstra's search over lines and markings, with the states of the reference evaluator. As
for all logs, the run need not have come to its end.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event
from assay.traces.log_reader import read_logs
from assay.traces.observe.model_size import sized_kernel
from assay.traces.search.transition_system import TraceModel
from assay.traces.validate import validate
from benchmarks.synthetic import Line

MOST_MARKINGS = 200_000


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line: how many logs are repaired at the cost of an optimal alignment, and both costs of the others."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks alignments", exit_on_error=False)
    for name, usual in (("logs", 50), ("seed", 1), ("activities", 8), ("wrong", 3)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    try:
        options = parser.parse_args(list(arguments))
    except argparse.ArgumentError as error:
        raise ValueError(str(error)) from error
    yield {"benchmark": "alignments", **measured(options.logs, options.seed, options.activities, options.wrong)}


def measured(logs: int, seed: int, activities: int, wrong: int) -> Line:
    """Compare the costs for so many logs."""
    equal, alike, dearer = 0, 0, list[str]()
    for number in range(logs):
        loaded, log = case(Random(f"{seed} {number}"), activities, wrong)
        repairs = repairs_of(loaded, log)
        found, best = cost(repairs, exchange=2), optimum(loaded, log, exchange=2)
        equal += found == best
        alike += cost(repairs, exchange=1) == optimum(loaded, log, exchange=1)
        dearer += [] if found == best else [f"log {number}: {found} instead of {best}"]
    return {"logs": logs, "equal": equal, "equal_with_exchanges": alike, "others": dearer, "target": "95 %"}


def case(choose: Random, activities: int, wrong: int) -> tuple[Loaded, list[str]]:
    """A random net, and a spoilt log of it."""
    net = Net(choose)
    net.build(net.tree(activities), "begin", "end")
    return load_text(net.spec()), spoilt(choose, net, net.run(3 * activities), wrong)


Tree = tuple[str, "Tree | None", "Tree | None"]
"""An operator with its two parts; None is a step."""


@dataclass
class Net:
    """A workflow net: for each transition the places that it takes tokens from, and those that it puts them into."""

    choose: Random
    visible: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    silent: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    places: list[str] = field(default_factory=lambda: ["begin", "end"])

    def tree(self, leaves: int) -> Tree | None:
        """A random process tree: an operator with its parts, or None for a step."""
        if leaves <= 1:
            return None
        operator = self.choose.choices(("sequence", "choice", "parallel", "loop"), (5, 2, 2, 1))[0]
        left = self.choose.randint(1, leaves - 1)
        return operator, self.tree(left), self.tree(leaves - left)

    def build(self, tree: Tree | None, source: str, target: str) -> None:
        """The transitions of a tree, from one place to another."""
        if tree is None:
            self.visible[f"step_{len(self.visible)}"] = [source], [target]
            return
        operator, left, right = tree
        match operator:
            case "sequence":
                between = self._place()
                self.build(left, source, between)
                self.build(right, between, target)
            case "choice":
                self.build(left, source, target)
                self.build(right, source, target)
            case "parallel":
                parts = [(self._place(), self._place()) for _ in range(2)]
                self._route([source], [begin for begin, _ in parts])
                for part, (begin, end) in zip((left, right), parts, strict=True):
                    self.build(part, begin, end)
                self._route([end for _, end in parts], [target])
            case _:
                begin, done = self._place(), self._place()
                self._route([source], [begin])
                self.build(left, begin, done)
                self.build(right, done, begin)
                self._route([done], [target])

    def _place(self) -> str:
        self.places.append(f"place_{len(self.places)}")
        return self.places[-1]

    def _route(self, takes: list[str], puts: list[str]) -> None:
        self.silent[f"route_{len(self.silent)}"] = takes, puts

    def spec(self) -> str:
        """The net in the language."""
        state = "".join(f"    {place}: bool = {str(place == 'begin').lower()}\n" for place in self.places)
        actions = "".join(
            f"action {name}:\n    when {' and '.join(takes)}\n"
            + "".join(f"    {place} := {str(place in puts).lower()}\n" for place in dict.fromkeys([*takes, *puts]))
            + "\n"
            for name, (takes, puts) in {**self.visible, **self.silent}.items()
        )
        hidden = f"    hidden {', '.join(self.silent)}; at most 6 between two pinned events\n" if self.silent else ""
        rules = "".join(f"    on {name.title()}: {name}\n" for name in self.visible)
        return f"module net\n\nstate:\n{state}\n{actions}trace log:\n    from events\n{rules}{hidden}    order: file\n"

    def run(self, most: int) -> list[str]:
        """The steps of a random run."""
        marked, found = {"begin"}, list[str]()
        every = {**self.visible, **self.silent}
        while len(found) < most and (able := [name for name, (takes, _) in every.items() if marked >= set(takes)]):
            name = self.choose.choice(able)
            takes, puts = every[name]
            marked = marked - set(takes) | set(puts)
            found += [name] if name in self.visible else []
        return found


def spoilt(choose: Random, net: Net, run: list[str], wrong: int) -> list[str]:
    """A run with up to so many mistakes."""
    found = list(run)
    for _ in range(choose.randint(1, wrong)):
        at = choose.randrange(len(found) + 1)
        match choose.choice(("lost", "more", "exchanged")):
            case "lost" if at < len(found) and len(found) > 1:
                del found[at]
            case "exchanged" if at + 1 < len(found):
                found[at : at + 2] = found[at + 1], found[at]
            case _:
                found.insert(at, choose.choice(list(net.visible)))
    return found


def repairs_of(loaded: Loaded, log: Sequence[str]) -> list[str] | None:
    """The kinds of the repairs of all mismatches; None if the validation did not come to the end of the log."""
    found = validate(loaded, _events(log))
    return None if found.execution is None else [each.repair.kind for each in found.violations]


def cost(repairs: Sequence[str] | None, exchange: int) -> int | None:
    """What repairs cost together, in moves of the log alone and of the model alone."""
    return None if repairs is None else sum(exchange if kind == "swap" else 1 for kind in repairs)


def _events(log: Sequence[str]) -> Sequence[Event]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.jsonl"
        file.write_text("".join(json.dumps({"event": name.title()}) + "\n" for name in log), encoding="utf-8")
        return list(read_logs([str(file)]).events)


def optimum(loaded: Loaded, log: Sequence[str], exchange: int) -> int | None:
    """The cost of an optimal alignment; None if too many markings are reached."""
    kernel, plan = sized_kernel(loaded, [], len(log), None)
    model = TraceModel(kernel, plan)
    steps = [name for rule in plan.rules for (call,) in rule.steps for name in [call.action]]
    numbers, best = count(), {(0, state): 0 for state in model.initial}
    heap = [(0, next(numbers), at, state) for at, state in best]
    while heap:
        dear, _, at, state = heappop(heap)
        if at == len(log):
            return dear
        # The heap keeps entries that were reached more cheaply since. With too many markings it runs empty, without an
        # answer.
        if dear > best[at, state] or len(best) > MOST_MARKINGS:
            continue
        onward = [(dear + 1, at + 1, state)]
        onward += [(dear, at + 1, taken.state) for taken in model.call(log[at], (), state)]
        if at + 1 < len(log):
            both = (
                after for first in model.call(log[at + 1], (), state) for after in model.call(log[at], (), first.state)
            )
            onward += [(dear + exchange, at + 2, after.state) for after in both]
        onward += [(dear + 1, at, taken.state) for name in steps for taken in model.call(name, (), state)]
        onward += [(dear, at, taken.state) for name in plan.hidden for taken in model.call(name, (), state)]
        for dearer, where, after in onward:
            if dearer < best.get((where, after), dearer + 1):
                best[where, after] = dearer
                heappush(heap, (dearer, next(numbers), where, after))
    return None
