"""Random updates, and the state that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from assay.grammar.values import FrozenMap, RecordValue

from .maker import Maker
from .meaning import Environment, read
from .sorts import COUNT, FIELDS, NODE, PAIR, Sort, UndefinedError, is_in_range

Writes = list[tuple[str, tuple[Any, ...], Any]]
"""Variables with paths of keys, indices and positions of fields, and the values that come there."""


class Update(NamedTuple):
    lines: list[str]
    run: Callable[[Environment, Writes], None]


class ConflictError(UndefinedError):
    """Two lines assign the same place."""


def written(state: dict[str, Any], sorts: dict[str, Sort], writes: Writes) -> dict[str, Any]:
    """The state after the writes."""
    for at, (name, path, _) in enumerate(writes):
        for other, longer, _ in writes[at + 1 :]:
            length = min(len(path), len(longer))
            if name == other and path[:length] == longer[:length]:
                raise ConflictError
    after = dict(state)
    for name, path, value in writes:
        after[name] = _put(after[name], sorts[name], path, value)
    return after


def _put(whole: Any, sort: Sort, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    first, rest = path[0], path[1:]
    match sort.kind:
        case "record":
            part = _put(whole.fields[first], sort.parts[first], rest, value)
            return RecordValue((*whole.fields[:first], part, *whole.fields[first + 1 :]))
        case "seq":
            if not 0 <= first < len(whole):
                raise UndefinedError
            return (*whole[:first], _put(whole[first], sort.parts[0], rest, value), *whole[first + 1 :])
        case _:
            if not sort.most and first not in whole:
                raise UndefinedError
            if rest and first not in whole:
                raise UndefinedError
            return FrozenMap({**whole, first: _put(whole.get(first), sort.parts[1], rest, value)})


def update(maker: Maker, name: str, sort: Sort, depth: int, *, nested: int = 2, in_loop: bool = False) -> Update:
    """Lines that may assign a variable."""
    ways: list[Callable[[Maker, str, Sort, int, int, bool], Update]] = [_assign, _assign, _assign]
    if nested:
        ways += [_if, _match, _let]
    if nested and not in_loop and sort.kind == "map":
        ways += [_for, _for]
    return maker.random.choice(ways)(maker, name, sort, depth, nested, in_loop)


def _assign(maker: Maker, name: str, sort: Sort, depth: int, _: int, in_loop: bool) -> Update:
    path, text, of = _place(maker, name, sort, in_loop)
    raw = of == COUNT and maker.chance(maker.wild)
    value = maker.number(depth) if raw else maker.expr(of, depth)

    def run(env: Environment, writes: Writes) -> None:
        place = tuple(part(env) for part in path)
        found = value.mean(env)
        if not is_in_range(of, found):
            raise UndefinedError
        writes.append((name, place, found))

    return Update([f"{text} := {value.text}"], run)


def _place(maker: Maker, name: str, sort: Sort, in_loop: bool) -> tuple[list[Callable[[Environment], Any]], str, Sort]:
    path: list[Callable[[Environment], Any]] = []
    text = name
    while True:
        if sort.kind == "map" and ((in_loop and not path) or maker.chance(0.6)):
            binders = [(each, of) for each, of in maker.scope if of == sort.parts[0] and each.startswith("o")]
            key = maker.key(sort.parts[0], 1)
            if binders and maker.chance(0.8):
                bound = maker.random.choice(binders)[0]
                key = read(bound)
            path.append(key.mean)
            text, sort = f"{text}[{key.text}]", sort.parts[1]
        elif sort.kind == "record" and maker.chance(0.6):
            at = maker.random.randrange(len(sort.parts))
            path.append(partial(_constant, at))
            text, sort = f"{text}.{FIELDS[at]}", sort.parts[at]
        elif sort.kind == "seq" and maker.chance(maker.wild):
            index = maker.random.randint(0, 1)
            path.append(partial(_constant, index))
            text, sort = f"{text}[{index}]", sort.parts[0]
        else:
            return path, text, sort


def _constant(value: int, _: Environment) -> int:
    return value


def _if(maker: Maker, name: str, sort: Sort, depth: int, nested: int, in_loop: bool) -> Update:
    test, matched = maker.test(depth)
    yes = maker.within(matched.scope, lambda: update(maker, name, sort, depth, nested=nested - 1, in_loop=in_loop))
    no = update(maker, name, sort, depth, nested=nested - 1, in_loop=in_loop) if maker.chance(0.6) else None

    def run(env: Environment, writes: Writes) -> None:
        bound = matched.bind(env) if matched.bind else ({} if test.mean(env) else None)
        if bound is not None:
            yes.run(env.bind(**bound), writes)
        elif no is not None:
            no.run(env, writes)

    return Update([f"if {test.text}:", *_inside(yes), *(["else:", *_inside(no)] if no else [])], run)


def _match(maker: Maker, name: str, sort: Sort, depth: int, nested: int, in_loop: bool) -> Update:
    value, cases, mean = maker.cases(
        depth, lambda: _Case(update(maker, name, sort, depth, nested=nested - 1, in_loop=in_loop))
    )
    lines = [f"match {value}:"]
    for pattern, case in cases:
        lines += [f"    {pattern}:", *(f"    {line}" for line in _inside(case.update))]
    return Update(lines, lambda env, writes: mean(env)(writes))


class _Case:
    """An update as `cases` wants it: its meaning takes the writes afterwards."""

    def __init__(self, made: Update) -> None:
        self.update = made

    def mean(self, env: Environment) -> Callable[[Writes], None]:
        return lambda writes: self.update.run(env, writes)


def _let(maker: Maker, name: str, sort: Sort, depth: int, nested: int, in_loop: bool) -> Update:
    of, local = maker.random.choice([COUNT, NODE, PAIR]), maker.name("l")
    value = maker.seen(of, depth)
    inner = maker.within([(local, of)], lambda: update(maker, name, sort, depth, nested=nested - 1, in_loop=in_loop))
    return Update(
        [f"let {local} = {value.text}", *inner.lines],
        lambda env, writes: inner.run(env.bind(**{local: value.mean(env)}), writes),
    )


def _for(maker: Maker, name: str, sort: Sort, depth: int, nested: int, _: bool) -> Update:
    of, binder = sort.parts[0], maker.name("o")
    domain = maker.domain(of, depth)
    inner = maker.within([(binder, of)], lambda: update(maker, name, sort, depth, nested=nested - 1, in_loop=True))

    def run(env: Environment, writes: Writes) -> None:
        for each in domain.mean(env):
            inner.run(env.bind(**{binder: each}), writes)

    return Update([f"for {binder} in {domain.text}:", *_inside(inner)], run)


def _inside(made: Update) -> list[str]:
    return [f"    {line}" for line in made.lines]


def with_new(made: Update, sorts: dict[str, Sort]) -> Update:
    """The update, whose `new(e)` reads what was written before it."""

    def run(env: Environment, writes: Writes) -> None:
        made.run(replace(env, after=written(env.state, sorts, writes)), writes)

    return Update(made.lines, run)
