"""Random specs: their text, and their initial states, steps and properties in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from assay.grammar.values import Value

from .blocks import block
from .expressions import Expressions
from .functions import random_function
from .maker import Scope, UnmadeError
from .meaning import Environment, Made, Meaning
from .sorts import (
    BOOL,
    COUNT,
    HEAD,
    NODE,
    PAIR,
    STORED,
    Sort,
    UnclearError,
    UndefinedError,
    exceeds,
    first_value,
    set_of,
    values,
)
from .updates import Update, update, with_new, written

State = dict[str, Any]
Outcome = tuple[str, Any]
"""``to`` with a state, ``cut`` with a label, or ``stuck``."""
Prefix = tuple[str, Callable[[Environment], list[Environment] | bool], str]
"""The kind of a line before the updates, what it does, and its label."""


@dataclass
class Action:
    name: str
    parameters: list[tuple[str, list[Value]]]
    prefix: list[Prefix]
    updates: list[Update]


@dataclass
class Spec:
    """A spec with its meaning; of each property the kind, and the meaning in a state or of a step."""

    text: str
    sorts: dict[str, Sort]
    firsts: dict[str, list[Value]]
    actions: list[Action]
    properties: list[tuple[str, str, Meaning]]

    def initial(self) -> list[State]:
        return [dict(zip(self.firsts, found, strict=True)) for found in product(*self.firsts.values())]

    def outcomes(
        self, state: State, action: Action, *, bounded: bool = True
    ) -> Iterator[tuple[tuple[Value, ...], Outcome]]:
        """What each instance of an action does."""
        for arguments in product(*(found for _, found in action.parameters)):
            local = {name: value for (name, _), value in zip(action.parameters, arguments, strict=True)}
            env = Environment(state, local=local, enabled=self.enabled)
            yield from ((arguments, each) for each in self._go(action, 0, env, None, bounded=bounded))

    def _go(self, action: Action, at: int, env: Environment, cut: str | None, *, bounded: bool) -> Iterator[Outcome]:
        if at == len(action.prefix):
            if cut and bounded:
                yield "cut", cut
                return
            outcome = self._updated(action, env, bounded=bounded)
            yield ("cut", cut) if cut and outcome[0] != "stuck" else outcome
            return
        kind, run, label = action.prefix[at]
        try:
            found = run(env)
        except UndefinedError:
            yield ("cut", cut) if cut and bounded else ("stuck", None)
            return
        if kind == "bound":
            yield from self._go(action, at + 1, env, cut or (None if found else label), bounded=bounded)
            return
        assert isinstance(found, list)
        for inner in found:
            yield from self._go(action, at + 1, inner, cut, bounded=bounded)

    def _updated(self, action: Action, env: Environment, *, bounded: bool) -> Outcome:
        writes: list[Any] = []
        try:
            for each in action.updates:
                each.run(env, writes)
            after = written(env.state, self.sorts, writes)
        except UndefinedError:
            return "stuck", None
        if bounded and any(exceeds(self.sorts[name], value) for name, value in after.items()):
            return "cut", "capacity"
        return "to", tuple(after.values())

    def enabled(self, state: State, name: str, wanted: tuple[Value | None, ...]) -> bool:
        action = next(each for each in self.actions if each.name == name)
        found = False
        for arguments, (kind, after) in self.outcomes(state, action, bounded=False):
            if all(want is None or want == given for want, given in zip(wanted, arguments, strict=False)):
                if kind == "stuck":
                    raise UnclearError
                found |= kind == "cut" or after != tuple(state.values())
        return found

    def steps(self, state: State) -> Counter[tuple[str, tuple[Value, ...], Outcome]]:
        """Every outcome in a state with the instance that leads there."""
        return Counter(
            (action.name, arguments, outcome)
            for action in self.actions
            for arguments, outcome in self.outcomes(state, action)
        )


class Writer(Expressions):
    """Makes specs; in properties expressions may ask whether an action is enabled."""

    def __init__(self, random: Random, *, symmetric: bool = False) -> None:
        super().__init__(random, symmetric=symmetric)
        self.asked: list[Action] = []

    def leaf_condition(self, depth: int) -> Made:
        if not self.asked or self.chance(0.6):
            return super().leaf_condition(depth)
        action = self.random.choice(self.asked)
        wanted: list[Made | None] = []
        for _, found in action.parameters:
            sort = NODE if found[0] not in (0, 1, 2, 3, False, True) else BOOL if found[0] is False else COUNT
            wanted.append(None if self.symmetric or self.chance(0.5) else self.leaf(sort))
        texts = ["_" if made is None else made.text for made in wanted]
        called = bool(texts) and self.chance(0.8)
        text = f"enabled({action.name}({', '.join(texts)}))" if called else f"enabled({action.name})"
        wanted = wanted if called else [None] * len(wanted)

        def mean(env: Environment) -> bool:
            assert env.enabled is not None
            return env.enabled(
                env.state, action.name, tuple(None if each is None else each.mean(env) for each in wanted)
            )

        return Made(text, mean)


def random_spec(random: Random, *, symmetric: bool = False, depth: int = 3) -> Spec:
    """A spec with up to four variables, functions, actions and properties."""
    while True:
        maker = Writer(random, symmetric=symmetric)
        try:
            return _spec(maker, depth)
        except UnmadeError:
            continue


def _spec(maker: Writer, depth: int) -> Spec:
    random = maker.random
    usable = [each for each in STORED if not maker.symmetric or each == NODE or not _names_node(each)]
    sorts = {f"v{at}": random.choice(usable) for at in range(random.randint(2, 4))}
    lines = [
        "module random_language",
        HEAD.replace("{a, b, c}", "{a, b, c} symmetric") if maker.symmetric else HEAD,
        "state:",
    ]
    firsts: dict[str, list[Value]] = {}
    for name, sort in sorts.items():
        text, firsts[name] = _first(maker, sort)
        lines.append(f"    {name}: {sort.text} {text}")
    state: Scope = list(sorts.items())
    for _ in range(random.randint(0, 3)):
        made = random_function(maker, state)
        lines += made.lines
        maker.functions.append(made)
    actions = []
    for at in range(random.randint(1, 3)):
        action, more = _action(maker, f"act{at}", sorts, depth)
        actions.append(action)
        lines += more
    maker.asked = actions
    properties = []
    for at in range(random.randint(1, 4)):
        kind = random.choice(["invariant", "invariant", "transition", "reachable"])
        made_lines, mean = _property(maker, kind, state, depth)
        lines += [f"{kind} p{at}{made_lines[0]}", *made_lines[1:]]
        properties.append((f"p{at}", kind, mean))
    return Spec("\n".join(lines) + "\n", sorts, firsts, actions, properties)


def _names_node(sort: Sort) -> bool:
    text = first_value(sort)[0].replace("false", "")
    return "a" in text


def _first(maker: Writer, sort: Sort) -> tuple[str, list[Value]]:
    if sort == NODE and (maker.symmetric or maker.chance(0.2)):
        return "in Node", values(NODE)
    if sort == COUNT and maker.chance(0.3):
        return "in {0, 2}", [0, 2]
    if sort == BOOL and maker.chance(0.3):
        return "in bool", [False, True]
    text, value = first_value(sort)
    return f"= {text}", [value]


def _property(maker: Writer, kind: str, state: Scope, depth: int) -> tuple[list[str], Meaning]:
    maker.scope = list(state)
    maker.old = list(state) if kind == "transition" else []
    kept, maker.asked = maker.asked, [] if kind == "transition" else maker.asked
    try:
        if maker.chance(0.4):
            lines, mean = block(maker, 2)
            return [":", *lines], mean
        made = maker.condition(depth)
        return [f": {made.text}"], made.mean
    finally:
        maker.old, maker.scope, maker.asked = [], [], kept


def _action(maker: Writer, name: str, sorts: dict[str, Sort], depth: int) -> tuple[Action, list[str]]:
    random = maker.random
    parameters: list[tuple[str, Sort, str, list[Value]]] = []
    for _ in range(random.randint(0, 2)):
        sort = random.choice([NODE, NODE, COUNT, BOOL])
        found, text = values(sort), f": {sort.text}"
        if sort == COUNT and maker.chance(0.4):
            found, text = [0, 2], " in {0, 2}"
        parameters.append((maker.name("a"), sort, text, found))
    header = ", ".join(each + text for each, _, text, _ in parameters)
    lines = [f"action {name}({header}):" if parameters else f"action {name}:"]
    maker.scope = [*sorts.items(), *((each, sort) for each, sort, _, _ in parameters)]
    prefix: list[Prefix] = []
    for _ in range(random.randint(0, 3)):
        found_lines, step = _prefix(maker, name, len(prefix), depth - 1)
        lines += [f"    {line}" for line in found_lines]
        prefix.append(step)
    assigned = random.sample(sorted(sorts), random.randint(1, min(3, len(sorts))))
    updates = []
    for at, each in enumerate(assigned):
        maker.next = [(v, of) for v, of in sorts.items() if v in assigned[:at]]
        made = update(maker, each, sorts[each], depth - 1)
        maker.next = []
        updates.append(with_new(made, sorts))
        lines += [f"    {line}" for line in made.lines]
    maker.scope = []
    return Action(name, [(each, found) for each, _, _, found in parameters], prefix, updates), lines


def _prefix(maker: Writer, action: str, at: int, depth: int) -> tuple[list[str], Prefix]:
    pick, label = maker.random.randrange(12), f"g{at}_{action}"
    if pick < 3:
        value, pattern = maker.against(depth)
        maker.scope = [*maker.scope, *pattern.scope]

        def fits(env: Environment) -> list[Environment]:
            found = pattern.fits(env, value.mean(env))
            return [] if found is None else [env.bind(**found)]

        return [f"when {label}: {value.text} is {pattern.text}"], ("when", fits, label)
    if pick < 4:
        text, mean = block(maker, 1)
        return [f"when {label}:", *text], ("when", lambda env: [env] if mean(env) else [], label)
    if pick < 6:
        made = maker.condition(depth)
        return [f"when {made.text}"], ("when", lambda env: [env] if made.mean(env) else [], label)
    if pick < 8:
        limit = maker.condition(depth)
        return [f"bound {label}: {limit.text}"], ("bound", lambda env: bool(limit.mean(env)), label)
    if pick < 9:
        sort, name = maker.random.choice([COUNT, NODE, set_of(NODE)]), maker.name("l")
        value = maker.seen(sort, depth)
        maker.scope = [*maker.scope, (name, sort)]
        return [f"let {name} = {value.text}"], ("let", lambda env: [env.bind(**{name: value.mean(env)})], label)
    return _pick(maker, depth, label)


def _pick(maker: Writer, depth: int, label: str) -> tuple[list[str], Prefix]:
    held = [sort.parts[0] for _, sort in maker.scope if sort.kind == "set"]
    sort = maker.random.choice([*held, NODE, COUNT, PAIR])
    domain = maker.domain(sort, depth)
    if sort == PAIR and maker.chance(0.5):
        first, second = maker.name("l"), maker.name("l")
        maker.scope = [*maker.scope, (first, NODE), (second, COUNT)]
        return [f"pick ({first}, {second}) in {domain.text}"], (
            "pick",
            lambda env: [env.bind(**{first: each.fields[0], second: each.fields[1]}) for each in domain.mean(env)],
            label,
        )
    name = maker.name("l")
    maker.scope = [*maker.scope, (name, sort)]
    return [f"pick {name} in {domain.text}"], (
        "pick",
        lambda env: [env.bind(**{name: each}) for each in domain.mean(env)],
        label,
    )
