"""Random conditions of every form, and the sets that they go through."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .maker import Maker
from .meaning import (
    Environment,
    Made,
    decided,
    each_way,
    read,
    subsets,
)
from .patterns import Matched
from .sorts import (
    BOOL,
    COUNT,
    ITEMS,
    MESSAGE,
    NODE,
    PAIR,
    Sort,
    set_of,
    values,
)


class Conditions(Maker):
    """Makes conditions and domains."""

    def test(self, depth: int) -> tuple[Made, Matched]:
        """A condition, with the names that it gives values to where it is true."""
        if self.chance(0.4):
            value, pattern = self.against(depth)
            text = f"{value.text} is {pattern.text}"
            matched = Matched(pattern.scope, lambda env: pattern.fits(env, value.mean(env)))
            return Made(text, lambda env: pattern.fits(env, value.mean(env)) is not None), matched
        return self.condition(depth), Matched([], None)

    def condition(self, depth: int) -> Made:
        """A condition, in parentheses unless it is a name, a call or a literal."""
        if depth <= 0:
            return self.random.choice([self.leaf_condition, self.comparison])(0)
        ways = (
            self.logic, self.logic, self.joined, self.comparison, self.equality, self.membership, self.quantified, self.quantified,
            self.is_pattern, self.inclusion, self.every, lambda depth: self.expr(BOOL, depth), self.passed,
        )  # fmt: skip
        return self.random.choice(ways)(depth - 1)

    def leaf_condition(self, _: int) -> Made:
        return self.expr(BOOL, 0)

    def passed(self, depth: int) -> Made:
        made = self.called(BOOL, depth)
        return made or self.comparison(depth)

    def logic(self, depth: int) -> Made:
        op = self.random.choice(["and", "or", "implies", "not"])
        left, right = self.condition(depth), self.condition(depth)
        if op == "not":
            return Made(f"(not {left.text})", lambda env: not left.mean(env))
        goes_on = {"and": True, "or": False, "implies": True}[op]
        text = f"({left.text} {op} {right.text})"
        return Made(text, lambda env: right.mean(env) if left.mean(env) == goes_on else op != "and")

    def joined(self, depth: int) -> Made:
        """``x is P and …``, where the names of P are known to the right."""
        value, pattern = self.against(depth)
        right = self.within(pattern.scope, lambda: self.condition(depth))
        op = self.random.choice(["and", "implies"])

        def mean(env: Environment) -> bool:
            found = pattern.fits(env, value.mean(env))
            return right.mean(env.bind(**found)) if found is not None else op == "implies"

        return Made(f"({value.text} is {pattern.text} {op} {right.text})", mean)

    def is_pattern(self, depth: int) -> Made:
        value, pattern = self.against(depth, names=False)
        is_not = self.chance(0.3)
        text = f"({value.text} is {'not ' if is_not else ''}{pattern.text})"
        return Made(text, lambda env: (pattern.fits(env, value.mean(env)) is None) == is_not)

    def comparison(self, depth: int) -> Made:
        left, right = self.number(depth), self.number(depth)
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        apply: Any = {
            "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": int.__ne__
        }[op]  # fmt: skip
        return Made(f"({left.text} {op} {right.text})", lambda env: apply(left.mean(env), right.mean(env)))

    def equality(self, depth: int) -> Made:
        stored = sorted({sort for _, sort in self.scope}, key=lambda sort: sort.text)
        sort = self.random.choice([*stored, NODE, PAIR, MESSAGE])
        left, right = self.seen(sort, depth), self.expr(sort, depth)
        differs = self.chance(0.4)
        text = f"({left.text} {'!=' if differs else '=='} {right.text})"
        return Made(text, lambda env: (left.mean(env) == right.mean(env)) != differs)

    def membership(self, depth: int) -> Made:
        collections = [(name, sort) for name, sort in self.scope if sort.kind in {"set", "seq", "bag"} or sort.most]
        if not collections or self.chance(0.3):
            item = self.random.choice(ITEMS)
            one, domain = self.seen(item, depth), self.domain(item, depth)
            return Made(f"({one.text} in {domain.text})", lambda env: one.mean(env) in domain.mean(env))
        name, sort = self.random.choice(collections)
        one, is_not = self.seen(sort.parts[0], depth), self.chance(0.3)
        text = f"({one.text} {'not in' if is_not else 'in'} {name})"
        return Made(text, lambda env: (one.mean(env) in env.read(name)) != is_not)

    def inclusion(self, depth: int) -> Made:
        of = set_of(self.random.choice([NODE, COUNT, PAIR]))
        left, right = self.seen(of, depth), self.seen(of, depth)
        return Made(f"({left.text} <= {right.text})", lambda env: left.mean(env) <= right.mean(env))

    def quantified(self, depth: int) -> Made:
        word = self.random.choice(["forall", "exists"])
        if self.chance(0.25):
            first, second = self.name("x"), self.name("x")
            domain = self.domain(PAIR, depth)
            body = self.within([(first, NODE), (second, COUNT)], lambda: self.condition(depth))
            binds: Callable[[Any], dict[str, Any]] = lambda each: dict(zip((first, second), each.fields, strict=True))  # noqa: E731
            names = f"({first}, {second})"
        else:
            sort, name = self.random.choice(ITEMS), self.name("x")
            domain = self.domain(sort, depth)
            body = self.within([(name, sort)], lambda: self.condition(depth))
            binds = lambda each: {name: each}  # noqa: E731
            names = name
        by = word == "exists"

        def mean(env: Environment) -> bool:
            parts = [lambda each=each: body.mean(env.bind(**binds(each))) for each in domain.mean(env)]
            return decided(env, parts, by) == by

        return Made(f"({word} {names} in {domain.text}: {body.text})", mean)

    def every(self, depth: int) -> Made:
        """``all`` or ``any``."""
        generators, names = self.generators(depth)
        scope = [(name, sort) for name, sort, _ in generators]
        body = self.within(scope, lambda: self.condition(depth))
        word = self.random.choice(["all", "any"])
        by = word == "any"

        def mean(env: Environment) -> bool:
            return decided(env, [partial(body.mean, inner) for inner in each_way(env, generators)], by) == by

        return Made(f"{word}({body.text} for {names})", mean)

    def counts(self) -> Made:
        """A set of numbers of few values, as a fold wants it."""
        known = [name for name, each in self.scope if each == set_of(COUNT) and name.startswith("v")]
        low, high = self.random.randint(0, 2), self.random.randint(0, 3)
        ways = [
            Made(f"({low} .. {high})", lambda _: frozenset(range(low, high + 1))),
            Made("Count", lambda _: frozenset(values(COUNT))),
        ]
        ways += [read(name) for name in known]
        return self.random.choice(ways)

    def domain(self, sort: Sort, depth: int) -> Made:
        """A set of values of the type, to go through."""
        of = set_of(sort)
        if sort == COUNT and self.chance(0.3):
            low, high = self.random.randint(0, 2), self.random.randint(0, 3)
            return Made(f"({low} .. {high})", lambda _: frozenset(range(low, high + 1)))
        if sort in {NODE, COUNT, BOOL} and self.chance(0.4):
            whole = frozenset(values(sort))
            return Made(sort.text, lambda _: whole)
        if sort == set_of(NODE) and self.chance(0.5):
            some = self.seen(sort, depth)
            return Made(f"subsets({some.text})", lambda env: subsets(some.mean(env)))
        known = [name for name, each in self.scope if each.kind in {"set", "bag", "seq"} and each.parts[0] == sort]
        if known and self.chance(0.6):
            name = self.random.choice(known)
            wrap = "{0}" if dict(self.scope)[name].kind == "set" else "elements({0})"
            return Made(wrap.format(name), lambda env: frozenset(env.read(name)))
        return self.seen(of, depth)
