"""Random values written down, and numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

from assay.grammar.values import FrozenMap, RecordValue, Some, VariantValue

from .maker import Maker
from .meaning import (
    Environment,
    Made,
    Meaning,
    bag_of,
    divided,
    each_way,
    in_range,
    made_of,
    of_numbers,
)
from .patterns import Matched
from .sorts import (
    COUNT,
    HIGHEST,
    ITEMS,
    NODE,
    PAIR,
    Sort,
    set_of,
    values,
)


class Literals(Maker):
    """Makes values of each type from their parts, and numbers."""

    def number(self, depth: int) -> Made:
        """An integer of any size."""
        if depth <= 0 or self.chance(0.2):
            return self.expr(COUNT, max(0, depth))
        return self.random.choice([self.arithmetic, self.total, self.sized, self.least])(depth - 1)

    def arithmetic(self, depth: int) -> Made:
        left, right = self.number(depth), self.number(depth)
        op = self.random.choice(["+", "+", "-", "*", "//", "%"])
        if op in {"//", "%"}:
            if self.chance(self.wild):
                return Made(
                    f"({left.text} {op} {right.text})", lambda env: divided(left.mean(env), right.mean(env), op)
                )
            by = self.random.randint(2, 3)
            return Made(f"({left.text} {op} {by})", lambda env: divided(left.mean(env), by, op))
        apply = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[op]
        return Made(f"({left.text} {op} {right.text})", lambda env: apply(left.mean(env), right.mean(env)))

    def total(self, depth: int) -> Made:
        """``sum`` or ``count`` of an expression for each element, of one or two sets, with or without a condition."""
        generators, names = self.generators(depth)
        scope = [(name, sort) for name, sort, _ in generators]
        which = self.random.choice(["sum", "count"])
        element = self.within(scope, lambda: self.number(depth))
        test = self.within(scope, lambda: self.condition(depth)) if self.chance(0.5) else None

        def mean(env: Environment) -> int:
            found = [inner for inner in each_way(env, generators) if test is None or test.mean(inner)]
            return sum(element.mean(inner) for inner in found) if which == "sum" else len(found)

        return Made(f"{which}({element.text} for {names}{f' if {test.text}' if test else ''})", mean)

    def generators(self, depth: int) -> tuple[list[tuple[str, Sort, Made]], str]:
        found: list[tuple[str, Sort, Made]] = []
        for _ in range(self.random.choice([1, 1, 2])):
            sort, binder = self.random.choice(ITEMS), self.name("x")
            scope = [(name, of) for name, of, _ in found]
            found.append((binder, sort, self.within(scope, partial(self.domain, sort, depth))))
        return found, ", ".join(f"{name} in {domain.text}" for name, _, domain in found)

    def sized(self, depth: int) -> Made:
        of = self.random.choice([set_of(NODE), set_of(COUNT), set_of(PAIR)])
        known = [name for name, each in self.scope if each.kind in {"set", "seq", "bag"} or each.most]
        if known and self.chance(0.5):
            name = self.random.choice(known)
            of_name = dict(self.scope)[name]
            size: Meaning = lambda env: sum(env.read(name).values()) if of_name.kind == "bag" else len(env.read(name))  # noqa: E731
            return Made(f"count({name})", size)
        collection = self.seen(of, depth)
        return Made(f"count({collection.text})", lambda env: len(collection.mean(env)))

    def least(self, depth: int) -> Made:
        which: Any = self.random.choice(["min", "max", "sum"])
        if self.chance(0.5):
            some = self.inhabited(COUNT, depth)
            return Made(f"{which}({some.text})", lambda env: of_numbers(which, some.mean(env)))
        item = self.random.choice([NODE, COUNT, PAIR])
        domain, binder = self.inhabited(item, depth), self.name("x")
        value = self.within([(binder, item)], lambda: self.number(depth))
        which = self.random.choice(["min", "max"])
        return Made(
            f"{which}({value.text} for {binder} in {domain.text})",
            lambda env: of_numbers(which, [value.mean(env.bind(**{binder: each})) for each in domain.mean(env)]),
        )

    def literal(self, sort: Sort, depth: int) -> Made:
        match sort.kind:
            case "bool":
                return self.condition(depth)
            case "count":
                return self.clamped(depth)
            case "node":
                return self.node()
            case "tuple" | "record":
                parts = [self.expr(part, depth) for part in sort.parts]
                return made_of(parts, "(", RecordValue, sort.name)
            case "enum":
                return self.variant(sort, depth)
            case "option":
                return self.optional(sort, depth)
            case "set":
                return self.set(sort, depth)
            case "bag":
                return self.bag(sort, depth)
            case "seq":
                return self.sequence(sort, depth)
            case _:
                return self.map(sort, depth)

    def clamped(self, depth: int) -> Made:
        if depth <= 0:
            return self.leaf(COUNT)
        value = self.number(depth)
        if self.chance(0.5):
            return Made(f"({value.text} % {HIGHEST + 1})", lambda env: value.mean(env) % (HIGHEST + 1))
        return Made(f"max({{0, min({{{HIGHEST}, {value.text}}})}})", lambda env: max(0, min(HIGHEST, value.mean(env))))

    def variant(self, sort: Sort, depth: int) -> Made:
        name, of = self.random.choice(sort.variants)
        if not of:
            return Made(name, lambda _: VariantValue(name, ()))
        parts = [self.payload(part, depth) for part in of]
        return made_of(parts, "(", lambda found: VariantValue(name, found), name)

    def payload(self, sort: Sort, depth: int) -> Made:
        """A value in a payload: whether a number is in range is looked at there."""
        if sort != COUNT or not self.chance(self.wild):
            return self.expr(sort, depth)
        value = self.number(depth)
        return Made(value.text, lambda env: in_range(sort, value.mean(env)))

    def optional(self, sort: Sort, depth: int) -> Made:
        if self.chance(0.3):
            return Made("none", lambda _: None)
        inner = self.expr(sort.parts[0], depth)
        wrap = self.chance(0.3) or inner.text == "none" or sort.parts[0].kind == "option"
        return Made(f"some({inner.text})" if wrap else inner.text, lambda env: Some(inner.mean(env)))

    def set(self, sort: Sort, depth: int) -> Made:
        item = sort.parts[0]
        pick = self.random.randrange(8)
        if depth <= 0 or pick < 2:
            parts = [self.expr(item, max(depth, 0)) for _ in range(self.random.choice([0, 1, 1, 2]))]
            return made_of(parts, "{", frozenset)
        if pick < 5:
            return self.combined(sort, depth)
        if pick == 5:
            binder, domain = self.name("x"), self.domain(item, depth)
            test = self.within([(binder, item)], lambda: self.condition(depth))
            return Made(
                f"{{{binder} in {domain.text} if {test.text}}}",
                lambda env: frozenset(each for each in domain.mean(env) if test.mean(env.bind(**{binder: each}))),
            )
        return self.image(item, depth)

    def combined(self, sort: Sort, depth: int) -> Made:
        left, right = self.seen(sort, depth - 1), self.expr(sort, depth - 1)
        op = self.random.choice(["+", "+", "-", "&"])
        apply: Any = {"+": frozenset.union, "-": frozenset.difference, "&": frozenset.intersection}[op]
        return Made(f"({left.text} {op} {right.text})", lambda env: apply(left.mean(env), right.mean(env)))

    def image(self, item: Sort, depth: int) -> Made:
        generators, names = self.generators(depth)
        scope = [(name, of) for name, of, _ in generators]
        if self.chance(0.5):
            test, matched = self.within(scope, lambda: self.test(depth))
        else:
            test, matched = None, Matched([], None)
        element = self.within([*scope, *matched.scope], lambda: self.seen(item, depth))

        def mean(env: Environment) -> Any:
            found = set()
            for inner in each_way(env, generators):
                bound = matched.bind(inner) if matched.bind else ({} if test is None or test.mean(inner) else None)
                if bound is not None:
                    found.add(element.mean(inner.bind(**bound)))
            return frozenset(found)

        return Made(f"{{{element.text} for {names}{f' if {test.text}' if test else ''}}}", mean)

    def bag(self, sort: Sort, depth: int) -> Made:
        known = [name for name, each in self.scope if each == sort]
        if known and depth > 0 and self.chance(0.5):
            return self.kept(self.random.choice(known), sort.parts[0], depth)
        parts = [self.expr(sort.parts[0], max(0, depth)) for _ in range(self.random.choice([1, 2]))]
        return made_of(parts, "bag{", bag_of)

    def kept(self, name: str, item: Sort, depth: int) -> Made:
        """The elements of a bag that fulfil a condition, as often as they are there."""
        binder = self.name("x")
        test = self.within([(binder, item)], lambda: self.condition(depth))

        def mean(env: Environment) -> FrozenMap:
            found = env.read(name)
            return FrozenMap({each: found[each] for each in found if test.mean(env.bind(**{binder: each}))})

        whole = self.random.choice(["", f"{binder} for "])
        return Made(f"bag{{{whole}{binder} in {name} if {test.text}}}", mean)

    def sequence(self, sort: Sort, depth: int) -> Made:
        item, known = sort.parts[0], [name for name, each in self.scope if each == sort]
        if known and depth > 0 and self.chance(0.6):
            name, more = self.random.choice(known), self.expr(item, depth)
            length = self.random.randint(0, 2)
            ways = (
                Made(f"({name} + [{more.text}])", lambda env: (*env.read(name), more.mean(env))),
                Made(f"drop({name}, {length})", lambda env: env.read(name)[length:]),
                Made(f"take({name}, {length})", lambda env: env.read(name)[:length]),
                self.of_sequence(name, item, depth),
            )
            return self.random.choice(ways)
        parts = [self.expr(item, max(depth, 0)) for _ in range(self.random.choice([0, 1, 2]))]
        return made_of(parts, "[", lambda found: found)

    def of_sequence(self, name: str, item: Sort, depth: int) -> Made:
        binder = self.name("x")
        if self.chance(0.5):
            test = self.within([(binder, item)], lambda: self.condition(depth))
            return Made(
                f"[{binder} in {name} if {test.text}]",
                lambda env: tuple(each for each in env.read(name) if test.mean(env.bind(**{binder: each}))),
            )
        element = self.within([(binder, item)], lambda: self.seen(item, depth))
        return Made(
            f"[{element.text} for {binder} in {name}]",
            lambda env: tuple(element.mean(env.bind(**{binder: each})) for each in env.read(name)),
        )

    def map(self, sort: Sort, depth: int) -> Made:
        of_key, of_value = sort.parts
        known = [name for name, each in self.scope if each == sort]
        if known and depth > 0 and self.chance(0.5):
            name, key, value = self.random.choice(known), self.key(of_key, depth), self.expr(of_value, depth)
            if sort.most and self.chance(0.3):
                return Made(f"without({name}, {key.text})", lambda env: env.read(name).without(key.mean(env)))
            text = f"({name} with {{{key.text} -> {value.text}}})"
            return Made(text, lambda env: env.read(name).changed(key.mean(env), value.mean(env)))
        if sort.most and (depth <= 0 or self.chance(0.5)):
            pairs = [(self.key(of_key, max(0, depth)), self.expr(of_value, max(0, depth)))] * self.random.choice([0, 1])
            text = "{" + ", ".join(f"{key.text} -> {value.text}" for key, value in pairs) + "}"
            return Made(text, lambda env: FrozenMap((key.mean(env), value.mean(env)) for key, value in pairs))
        binder = self.name("x")
        value = self.within([(binder, of_key)], lambda: self.expr(of_value, max(depth, 0)))
        if sort.most:
            domain = self.domain(of_key, depth)
            return Made(
                f"[{binder} in {domain.text} -> {value.text}]",
                lambda env: FrozenMap((each, value.mean(env.bind(**{binder: each}))) for each in domain.mean(env)),
            )
        return Made(
            f"[{binder} -> {value.text}]",
            lambda env: FrozenMap((each, value.mean(env.bind(**{binder: each}))) for each in values(of_key)),
        )
