"""Random expressions of every form, with their meanings."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from assay.grammar.values import sort_key

from .conditions import Conditions
from .literals import Literals
from .maker import UnmadeError
from .meaning import (
    Environment,
    Made,
    read,
)
from .patterns import Patterns
from .sorts import (
    BOOL,
    COUNT,
    FIELDS,
    HIGHEST,
    MESSAGE,
    NODE,
    NODES,
    PAIR,
    Sort,
    UndefinedError,
    first_value,
    option,
    set_of,
)


class Expressions(Patterns, Conditions, Literals):
    """Makes expressions of any type."""

    def expr(self, sort: Sort, depth: int) -> Made:
        """An expression of the type, whose type can be seen from its text unless it is the literal of something empty."""
        known = [name for name, each in self.scope if each == sort]
        if known and self.chance(0.35 if depth > 0 else 0.7):
            return read(self.random.choice(known))
        if depth <= 0:
            return self.leaf(sort)
        ways = [
            self.conditional,
            self.bound,
            self.matched,
            self.called,
            self.part,
            self.folded,
            self.chosen,
            self.timed,
        ]
        if self.chance(0.4):
            made = self.random.choice(ways)(sort, depth - 1)
            if made is not None:
                return made
        return self.literal(sort, depth - 1)

    def seen(self, sort: Sort, depth: int) -> Made:
        """An expression whose type is seen from its text."""
        for _ in range(20):
            made = self.expr(sort, depth)
            if not any(empty in made.text for empty in ("{}", "[]", "none")) and made.text not in {"bag{}"}:
                return made
            depth = max(depth, 1)
        found = [name for name, each in self.scope if each == sort]
        if not found:
            raise UnmadeError
        return read(self.random.choice(found))

    def leaf(self, sort: Sort) -> Made:
        if sort == COUNT:
            number = self.random.randint(0, HIGHEST)
            return Made(str(number), lambda _: number)
        if sort == BOOL:
            truth = self.chance(0.5)
            return Made("true" if truth else "false", lambda _: truth)
        if sort == NODE:
            return self.node()
        if sort.kind in {"tuple", "record", "enum"} or (sort.kind == "map" and not sort.most):
            return self.literal(sort, 0)
        text, value = first_value(sort)
        return Made(text, lambda _: value)

    def node(self) -> Made:
        if not self.symmetric:
            atom = self.random.choice(NODES)
            return Made(atom.name, lambda _: atom)
        known = [name for name, each in self.scope if each == NODE]
        if known:
            return read(self.random.choice(known))
        raise UnmadeError

    def conditional(self, sort: Sort, depth: int) -> Made | None:
        if self.chance(0.4):
            return self.narrowed(sort, depth)
        test, matched = self.test(depth)
        yes, no = self.within(matched.scope, lambda: self.expr(sort, depth)), self.expr(sort, depth)

        def mean(env: Environment) -> Any:
            bound = matched.bind(env) if matched.bind else ({} if test.mean(env) else None)
            return no.mean(env) if bound is None else yes.mean(env.bind(**bound))

        return Made(f"(if {test.text} then {yes.text} else {no.text})", mean)

    def narrowed(self, sort: Sort, depth: int) -> Made | None:
        """``if x == none then … else …``, where x is a value of the inner type after ``else``."""
        known = [(name, each) for name, each in self.scope if each.kind == "option"]
        if not known:
            return None
        name, of = self.random.choice(known)
        no = self.expr(sort, depth)
        rest = [(each, old) for each, old in self.scope if each != name]
        kept, self.scope = self.scope, [*rest, (name, of.parts[0])]
        try:
            yes = self.expr(sort, depth)
        finally:
            self.scope = kept

        def mean(env: Environment) -> Any:
            value = env.read(name)
            return no.mean(env) if value is None else yes.mean(env.bind(**{name: value.value}))

        if self.chance(0.5):
            return Made(f"(if {name} == none then {no.text} else {yes.text})", mean)
        return Made(f"(if {name} != none then {yes.text} else {no.text})", mean)

    def bound(self, sort: Sort, depth: int) -> Made:
        if self.chance(0.3):
            first, second = self.name("l"), self.name("l")
            value = self.seen(PAIR, depth)
            body = self.within([(first, NODE), (second, COUNT)], lambda: self.expr(sort, depth))

            def apart(env: Environment) -> Any:
                one, two = value.mean(env).fields
                return body.mean(env.bind(**{first: one, second: two}))

            return Made(f"(let ({first}, {second}) = {value.text}: {body.text})", apart)
        of = self.random.choice([COUNT, NODE, BOOL, PAIR, MESSAGE, set_of(NODE), option(PAIR)])
        name, value = self.name("l"), self.seen(of, depth)
        body = self.within([(name, of)], lambda: self.expr(sort, depth))
        return Made(
            f"(let {name} = {value.text}: {body.text})", lambda env: body.mean(env.bind(**{name: value.mean(env)}))
        )

    def matched(self, sort: Sort, depth: int) -> Made:
        value, cases, mean = self.cases(depth, lambda: self.expr(sort, depth))
        inside = ", ".join(f"{pattern} -> {made.text}" for pattern, made in cases)
        return Made(f"(match {value} {{{inside}}})", mean)

    def called(self, sort: Sort, depth: int) -> Made | None:
        known = [
            each for each in self.functions if each.result == sort and each.reads <= {name for name, _ in self.scope}
        ]
        return self.random.choice(known).call(self, depth) if known else None

    def timed(self, sort: Sort, depth: int) -> Made | None:
        """``old(e)`` or ``new(e)``, where there is such a time."""
        if not (self.old or self.next):
            return None
        word, scope = ("old", self.old) if self.old else ("new", self.next)
        names = {name for name, _ in scope}
        kept = self.scope, self.functions, self.old, self.next
        self.scope = [
            *scope,
            *((name, of) for name, of in self.scope if name not in names and not name.startswith("v")),
        ]
        self.functions, self.old, self.next = [], [], []
        try:
            made = self.seen(sort, depth)
        except UnmadeError:
            return None
        finally:
            self.scope, self.functions, self.old, self.next = kept

        def mean(env: Environment) -> Any:
            local = {name: value for name, value in env.local.items() if not name.startswith("v")}
            return made.mean(Environment(env.before if word == "old" else env.after, local=local))

        if word == "new" and not names & set(re.findall(r"\w+", made.text)):
            return None
        return Made(f"{word}({made.text})", mean)

    def part(self, sort: Sort, depth: int) -> Made | None:
        """A part of something larger that is known."""
        ways: list[Callable[[], Made]] = []
        if sort in {NODE, COUNT}:
            at = 0 if sort == NODE else 1
            ways.append(lambda: self.projected(PAIR, depth, lambda text: f"{text}[{at}]", at))
        for name, of in self.scope:
            if of.kind == "record" and sort in of.parts:
                at = of.parts.index(sort)
                ways.append(partial(self.field, name, at))
            if of.kind == "map" and of.parts[1] == sort:
                ways.append(partial(self.entry, name, of, depth))
            if of.kind == "seq" and of.parts[0] == sort and self.chance(max(0.2, self.wild * 5)):
                ways.append(partial(self.end, name, sort, depth))
        return self.random.choice(ways)() if ways else None

    def projected(self, of: Sort, depth: int, text: Callable[[str], str], at: int) -> Made:
        value = self.seen(of, depth)
        return Made(text(value.text), lambda env: value.mean(env).fields[at])

    def field(self, name: str, at: int) -> Made:
        return Made(f"{name}.{FIELDS[at]}", lambda env: env.read(name).fields[at])

    def entry(self, name: str, of: Sort, depth: int) -> Made:
        key = self.key(of.parts[0], depth)

        def at(env: Environment) -> Any:
            entries = env.read(name)
            where = key.mean(env)
            if where not in entries:
                raise UndefinedError
            return entries[where]

        if not of.most or self.chance(self.wild):
            return Made(f"{name}[{key.text}]", at)
        other = self.expr(of.parts[1], depth)
        text = f"(if {key.text} in {name} then {name}[{key.text}] else {other.text})"
        return Made(text, lambda env: at(env) if key.mean(env) in env.read(name) else other.mean(env))

    def end(self, name: str, sort: Sort, depth: int) -> Made:
        which = self.random.choice(["first", "last"])
        other = self.expr(sort, depth)

        def mean(env: Environment) -> Any:
            sequence = env.read(name)
            return (sequence[0] if which == "first" else sequence[-1]) if sequence else other.mean(env)

        return Made(f"(if {name} == [] then {other.text} else {which}({name}))", mean)

    def folded(self, sort: Sort, depth: int) -> Made | None:
        if sort.kind not in {"count", "bool", "node", "set", "tuple", "option", "enum"}:
            return None
        in_order = [COUNT] if self.symmetric else [COUNT, NODE]
        item = self.random.choice(in_order)
        begin = self.seen(sort, depth)
        sequences = [(name, each) for name, each in self.scope if each.kind == "seq" and each.most <= 3]
        if sequences and self.chance(0.6):
            name, of = self.random.choice(sequences)
            item, domain = of.parts[0], read(name)
        elif item == COUNT:
            domain = self.counts()
        else:
            domain = self.domain(item, depth)
        so_far, binder = self.name("f"), self.name("x")
        step = self.within([(so_far, sort), (binder, item)], lambda: self.expr(sort, depth))

        def mean(env: Environment) -> Any:
            value = begin.mean(env)
            found = domain.mean(env)
            for each in found if isinstance(found, tuple) else sorted(found, key=sort_key):
                value = step.mean(env.bind(**{so_far: value, binder: each}))
            return value

        return Made(f"(fold {so_far} = {begin.text} for {binder} in {domain.text}: {step.text})", mean)

    def chosen(self, sort: Sort, depth: int) -> Made | None:
        if sort not in {NODE, COUNT, PAIR, MESSAGE}:
            return None
        if sort in {NODE, COUNT} and self.chance(0.6):
            return self.extreme(sort, depth)
        if not self.chance(max(0.1, 4 * self.wild)):
            return None
        domain, binder = self.domain(sort, depth), self.name("x")
        test = self.within([(binder, sort)], lambda: self.condition(depth))

        def mean(env: Environment) -> Any:
            found = [each for each in domain.mean(env) if test.mean(env.bind(**{binder: each}))]
            if len(found) != 1:
                raise UndefinedError
            return found[0]

        return Made(f"(choose {binder} in {domain.text} if {test.text})", mean)

    def extreme(self, sort: Sort, depth: int) -> Made:
        domain, binder = self.inhabited(sort, depth), self.name("x")
        which: Any = self.random.choice(["argmin", "argmax"])
        value = self.within([(binder, sort)], lambda: self.number(depth))

        def mean(env: Environment) -> Any:
            found = [(value.mean(env.bind(**{binder: each})), each) for each in sorted(domain.mean(env), key=sort_key)]
            if not found:
                raise UndefinedError
            best = (min if which == "argmin" else max)(number for number, _ in found)
            best_ones = [each for number, each in found if number == best]
            if len(best_ones) > 1 and self.symmetric and sort == NODE:
                raise UndefinedError
            return best_ones[0]

        return Made(f"{which}({value.text} for {binder} in {domain.text})", mean)

    def inhabited(self, sort: Sort, depth: int) -> Made:
        """A set with an element, unless it is wild."""
        one, domain = self.expr(sort, 0), self.domain(sort, depth)
        if self.chance(self.wild):
            return domain
        return Made(f"({domain.text} + {{{one.text}}})", lambda env: frozenset(domain.mean(env)) | {one.mean(env)})
