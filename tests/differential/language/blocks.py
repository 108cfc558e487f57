"""Random blocks: conditions on lines of their own, with `let`, `if`, `match` and quantifiers above more lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .maker import Maker
from .meaning import Environment, Meaning, decided
from .sorts import COUNT, NODE, PAIR, set_of

Line = tuple[list[str], Callable[[Environment], tuple[bool, Environment]]]
"""The text, and whether the condition of the line holds, with what is known below it."""


def block(maker: Maker, depth: int) -> tuple[list[str], Meaning]:
    """The lines of a condition, indented, and its meaning."""
    kept = maker.scope
    try:
        lines = [_line(maker, depth) for _ in range(maker.random.randint(0, 2))]
        lines.append(_condition(maker, depth))
    finally:
        maker.scope = kept

    def mean(env: Environment) -> bool:
        for _, holds in lines:
            is_true, env = holds(env)
            if not is_true:
                return False
        return True

    return [f"    {text}" for texts, _ in lines for text in texts], mean


def _line(maker: Maker, depth: int) -> Line:
    ways = [_condition, _let, _pattern, _if, _match, _for_all]
    if depth <= 0:
        ways = ways[:3]
    return maker.random.choice(ways)(maker, depth)


def _condition(maker: Maker, depth: int) -> Line:
    made = maker.condition(max(0, depth))
    label = f"{maker.name('c')}: " if maker.chance(0.4) else ""
    return [f"{label}{made.text}"], lambda env: (made.mean(env), env)


def _let(maker: Maker, depth: int) -> Line:
    if maker.chance(0.3):
        first, second = maker.name("l"), maker.name("l")
        value = maker.seen(PAIR, depth)
        maker.scope = [*maker.scope, (first, NODE), (second, COUNT)]

        def apart(env: Environment) -> tuple[bool, Environment]:
            one, two = value.mean(env).fields
            return True, env.bind(**{first: one, second: two})

        return [f"let ({first}, {second}) = {value.text}"], apart
    sort, name = maker.random.choice([COUNT, NODE, set_of(NODE)]), maker.name("l")
    value = maker.seen(sort, depth)
    maker.scope = [*maker.scope, (name, sort)]
    return [f"let {name} = {value.text}"], lambda env: (True, env.bind(**{name: value.mean(env)}))


def _pattern(maker: Maker, depth: int) -> Line:
    """A pattern that has to fit, whose names are known below."""
    value, pattern = maker.against(depth)
    maker.scope = [*maker.scope, *pattern.scope]

    def holds(env: Environment) -> tuple[bool, Environment]:
        found = pattern.fits(env, value.mean(env))
        return found is not None, env.bind(**(found or {}))

    return [f"{value.text} is {pattern.text}"], holds


def _if(maker: Maker, depth: int) -> Line:
    test, matched = maker.test(depth)
    yes = maker.within(matched.scope, lambda: block(maker, depth - 1))
    no = block(maker, depth - 1) if maker.chance(0.7) else None
    lines = [f"if {test.text}:", *yes[0], *(["else:", *no[0]] if no else [])]

    def mean(env: Environment) -> bool:
        bound = matched.bind(env) if matched.bind else ({} if test.mean(env) else None)
        if bound is None:
            return no[1](env) if no else True
        result: bool = yes[1](env.bind(**bound))
        return result

    return lines, lambda env: (mean(env), env)


def _match(maker: Maker, depth: int) -> Line:
    value, cases, mean = maker.cases(depth, lambda: _Case(*block(maker, depth - 1)))
    lines = [f"match {value}:"]
    for pattern, case in cases:
        lines += [f"    {pattern}:", *(f"    {line}" for line in case.text)]
    return lines, lambda env: (mean(env), env)


class _Case:
    """A block as `cases` wants it: with a meaning by name."""

    def __init__(self, text: list[str], mean: Meaning) -> None:
        self.text = text
        self.mean = mean


def _for_all(maker: Maker, depth: int) -> Line:
    sort, name = maker.random.choice([NODE, COUNT, PAIR]), maker.name("x")
    domain = maker.domain(sort, depth)
    lines, inside = maker.within([(name, sort)], lambda: block(maker, depth - 1))
    word = maker.random.choice(["forall", "exists"])
    by = word == "exists"

    def mean(env: Environment) -> bool:
        parts: list[Any] = [lambda each=each: inside(env.bind(**{name: each})) for each in domain.mean(env)]
        return decided(env, parts, by) == by

    return [f"{word} {name} in {domain.text}:", *lines], lambda env: (mean(env), env)
