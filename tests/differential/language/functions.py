"""Random functions: plain ones, blocks, those that take functions, and those that call themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .blocks import block
from .maker import Maker, Scope, UnmadeError
from .meaning import Environment, Made, Meaning, decided
from .sorts import BOOL, COUNT, MESSAGE, NODE, PAIR, Sort, option, sequence, set_of, values

RESULTS = (BOOL, BOOL, COUNT, NODE, PAIR, MESSAGE, set_of(NODE), set_of(COUNT), option(PAIR))
TAKEN = (NODE, COUNT, PAIR, MESSAGE, set_of(NODE), option(NODE), BOOL)


@dataclass(frozen=True)
class Function:
    """A function with its text, its meaning in an environment that has its parameters, and the variables that it reads."""

    name: str
    parameters: tuple[tuple[str, Sort], ...]
    result: Sort
    lines: tuple[str, ...]
    body: Meaning
    reads: frozenset[str] = frozenset()
    takes: tuple[Sort, ...] | None = None
    """Of a function whose last parameter is a function: the types that this one takes. It gives a condition."""

    def call(self, maker: Maker, depth: int) -> Made:
        given = [(name, maker.expr(sort, max(0, depth))) for name, sort in self.parameters]
        texts = [made.text for _, made in given]
        passed: Callable[[Environment], Any] | None = None
        if self.takes is not None:
            text, passed = function_value(maker, self.takes, depth)
            texts.append(text)
        if maker.chance(0.3) and self.takes is None and texts:
            texts = [f"{name} = {text}" for (name, _), text in zip(given, texts, strict=True)]

        def mean(env: Environment) -> Any:
            local = {name: made.mean(env) for name, made in given}
            return self.body(env.only(**local, **({"taken": passed(env)} if passed else {})))

        return Made(f"{self.name}({', '.join(texts)})", mean)


def function_value(maker: Maker, takes: tuple[Sort, ...], depth: int) -> tuple[str, Callable[[Environment], Any]]:
    """A function of these types to a condition: a name, or a call with some arguments left open."""
    known = {name for name, _ in maker.scope}
    fitting = [
        each
        for each in maker.functions
        if each.result == BOOL and each.takes is None and each.reads <= known and _open(each, takes) is not None
    ]
    if not fitting:
        raise UnmadeError
    function = maker.random.choice(fitting)
    places = _open(function, takes)
    assert places is not None
    given = {
        name: maker.expr(sort, max(0, depth)) for at, (name, sort) in enumerate(function.parameters) if at not in places
    }
    left = [name for at, (name, _) in enumerate(function.parameters) if at in places]
    text = function.name
    if given or maker.chance(0.5):
        text += f"({', '.join(given[name].text if name in given else '_' for name, _ in function.parameters)})"

    def mean(env: Environment) -> Any:
        closed = {name: made.mean(env) for name, made in given.items()}
        return lambda *more: function.body(env.only(**closed, **dict(zip(left, more, strict=True))))

    return text, mean


def _open(function: Function, takes: tuple[Sort, ...]) -> tuple[int, ...] | None:
    """The places of the parameters that these types are for, from the left."""
    found: list[int] = []
    for sort in takes:
        start = found[-1] + 1 if found else 0
        places = [at for at, (_, of) in enumerate(function.parameters) if of == sort and at >= start]
        if not places:
            return None
        found.append(places[0])
    return tuple(found)


def random_function(maker: Maker, state: Scope) -> Function:
    """A function of any kind."""
    kind = maker.random.choice([plain, plain, in_a_block, taking, downward, along, shrinking])
    reads = [each for each in state if maker.chance(0.5)]
    return kind(maker, maker.name("f"), reads)


def _body(maker: Maker, scope: Scope, make: Callable[[], Any]) -> Any:
    kept, maker.scope = maker.scope, scope
    try:
        return make()
    finally:
        maker.scope = kept


def _header(name: str, parameters: Scope, result: Sort, taken: str = "") -> str:
    texts = [f"{each}: {sort.text}" for each, sort in parameters] + ([taken] if taken else [])
    return f"def {name}({', '.join(texts)}): {result.text}"


def _parameters(maker: Maker) -> Scope:
    return [(maker.name("a"), maker.random.choice(TAKEN)) for _ in range(maker.random.randint(0, 2))]


def plain(maker: Maker, name: str, reads: Scope) -> Function:
    parameters, result = _parameters(maker), maker.random.choice(RESULTS)
    made = _body(maker, [*reads, *parameters], lambda: maker.expr(result, 2))
    header = _header(name, parameters, result)
    return Function(name, tuple(parameters), result, (f"{header} = {made.text}",), made.mean, _names(reads))


def in_a_block(maker: Maker, name: str, reads: Scope) -> Function:
    parameters = _parameters(maker)
    lines, mean = _body(maker, [*reads, *parameters], lambda: block(maker, 2))
    header = _header(name, parameters, BOOL)
    return Function(name, tuple(parameters), BOOL, (f"{header}:", *lines), mean, _names(reads))


def taking(maker: Maker, name: str, reads: Scope) -> Function:
    """``def f(s: set[Node], g: def(Node): bool): bool = forall x in s: g(x)``."""
    item = maker.random.choice([NODE, COUNT, PAIR])
    domain, taken, binder = maker.name("a"), maker.name("g"), maker.name("x")
    parameters = [(domain, set_of(item))]
    word = maker.random.choice(["forall", "exists"])
    more = _body(maker, [*reads, *parameters, (binder, item)], lambda: maker.condition(1))
    header = _header(name, parameters, BOOL, f"{taken}: def({item.text}): bool")
    by = word == "exists"

    def mean(env: Environment) -> bool:
        parts = [
            lambda each=each: more.mean(env.bind(**{binder: each})) and env.local["taken"](each)
            for each in env.local[domain]
        ]
        return decided(env, parts, by) == by

    text = f"{header} = {word} {binder} in {domain}: {more.text} and {taken}({binder})"
    return Function(name, tuple(parameters), BOOL, (text,), mean, _names(reads), takes=(item,))


def downward(maker: Maker, name: str, reads: Scope) -> Function:
    """A recursion over a number that falls to 0, in which other parameters may change."""
    n, rest, other = maker.name("a"), maker.name("l"), maker.name("a")
    result, sort = maker.random.choice(RESULTS), maker.random.choice(TAKEN)
    scope: Scope = [*reads, (n, COUNT), (other, sort)]
    base = _body(maker, scope, lambda: maker.expr(result, 1))
    changed = _body(maker, scope, lambda: maker.expr(sort, 1))
    step = _body(maker, [*scope, (rest, result)], lambda: maker.expr(result, 2))

    def mean(env: Environment) -> Any:
        if env.local[n] == 0:
            return base.mean(env)
        inner = mean(env.only(**{n: env.local[n] - 1, other: changed.mean(env)}))
        return step.mean(env.bind(**{rest: inner}))

    header = _header(name, [(n, COUNT), (other, sort)], result)
    text = f"{header} = if {n} == 0 then {base.text} else (let {rest} = {name}({n} - 1, {changed.text}): {step.text})"
    return Function(name, ((n, COUNT), (other, sort)), result, (text,), mean, _names(reads))


def along(maker: Maker, name: str, reads: Scope) -> Function:
    """A recursion along a sequence."""
    item, result = maker.random.choice([COUNT, NODE, MESSAGE]), maker.random.choice(RESULTS)
    s, rest, one = maker.name("a"), maker.name("l"), maker.name("l")
    of = sequence(item, 2)
    base = _body(maker, reads, lambda: maker.expr(result, 1))
    step = _body(maker, [*reads, (s, of), (rest, result), (one, item)], lambda: maker.expr(result, 2))

    def mean(env: Environment) -> Any:
        items = env.local[s]
        if not items:
            return base.mean(env)
        inner = mean(env.only(**{s: items[1:]}))
        return step.mean(env.bind(**{one: items[0], rest: inner}))

    header = _header(name, [(s, of)], result)
    inside = f"(let {one} = first({s}): (let {rest} = {name}(drop({s}, 1)): {step.text}))"
    return Function(
        name, ((s, of),), result, (f"{header} = if {s} == [] then {base.text} else {inside}",), mean, _names(reads)
    )


def shrinking(maker: Maker, name: str, reads: Scope) -> Function:
    """A recursion over a set that grows until nothing is new, or shrinks to nothing."""
    s, binder = maker.name("a"), maker.name("x")
    of = set_of(NODE)
    grows = maker.chance(0.6)
    test = _body(maker, [*reads, (s, of), (binder, NODE)], lambda: maker.condition(2))
    u = maker.name("l")

    def mean(env: Environment) -> Any:
        held = env.local[s]
        kept = frozenset(each for each in (values(NODE) if grows else held) if test.mean(env.bind(**{binder: each})))
        new = held | kept if grows else held - kept
        return held if new == held else mean(env.only(**{s: new}))

    op = f"{s} + {{{binder} in Node if {test.text}}}" if grows else f"{s} - {{{binder} in {s} if {test.text}}}"
    text = f"{_header(name, [(s, of)], of)} = (let {u} = {op}: if {u} == {s} then {s} else {name}({u}))"
    return Function(name, ((s, of),), of, (text,), mean, _names(reads))


def _names(reads: Scope) -> frozenset[str]:
    return frozenset(name for name, _ in reads)
