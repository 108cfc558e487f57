"""Random patterns, and what they fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .maker import Maker, Scope
from .meaning import Environment, Made, Meaning
from .sorts import BOOL, COUNT, MESSAGE, NODE, PAIR, Sort

Fits = Callable[[Environment, Any], dict[str, Any] | None]
"""The values of the pattern's names, or None if it does not fit."""


class Pattern(NamedTuple):
    text: str
    fits: Fits
    scope: Scope
    is_certain: bool
    """Whether it fits every value of its type."""


class Matched(NamedTuple):
    """The names that a condition gives values to, and their values; None where it is false."""

    scope: Scope
    bind: Callable[[Environment], dict[str, Any] | None] | None


class Patterns(Maker):
    """Makes patterns."""

    def against(self, depth: int, *, names: bool = True) -> tuple[Made, Pattern]:
        """A value, and a pattern of its type that may not fit."""
        value, sort = self.subject(depth)
        return value, self.outer(sort, names=names)

    def subject(self, depth: int) -> tuple[Made, Sort]:
        """A value that patterns take apart. What is written down for an option may be the value in it, so options are names."""
        stored = [(name, sort) for name, sort in self.scope if sort.kind in {"enum", "option", "tuple", "record"}]
        if stored and self.chance(0.7):
            name, sort = self.random.choice(stored)
            return Made(name, lambda env: env.read(name)), sort
        sort = self.random.choice([MESSAGE, PAIR])
        return self.seen(sort, depth), sort

    def outer(self, sort: Sort, *, names: bool = True) -> Pattern:
        """A pattern that is no plain name."""
        match sort.kind:
            case "enum":
                name, parts = self.random.choice(sort.variants)
                return self.of_parts(sort, name, parts, names=names, is_whole=len(sort.variants) == 1)
            case "option":
                if self.chance(0.3):
                    return Pattern("none", lambda _, value: {} if value is None else None, [], is_certain=False)
                inner = self.pattern(sort.parts[0], names=names)
                return Pattern(
                    f"some({inner.text})",
                    lambda env, value: None if value is None else inner.fits(env, value.value),
                    inner.scope,
                    is_certain=False,
                )
            case _:
                return self.of_parts(sort, sort.name, sort.parts, names=names, is_whole=True)

    def of_parts(
        self, sort: Sort, name: str, of: tuple[Sort, ...], *, names: bool, is_whole: bool, plain: bool = False
    ) -> Pattern:
        parts = [self.pattern(part, names=names, plain=plain) for part in of]
        bare = sort.kind == "enum" and (not parts or (not plain and self.chance(0.15)))
        text = name if bare else f"{name}({', '.join(part.text for part in parts)})"
        if bare:
            parts = []

        def fits(env: Environment, value: Any) -> dict[str, Any] | None:
            if sort.kind == "enum" and value.variant != name:
                return None
            found: dict[str, Any] = {}
            held = value.payload if sort.kind == "enum" else value.fields
            for part, each in zip(parts, held, strict=False):
                more = part.fits(env, each)
                if more is None:
                    return None
                found |= more
            return found

        scope = [each for part in parts for each in part.scope]
        return Pattern(text, fits, scope, is_certain=is_whole and all(part.is_certain for part in parts))

    def pattern(self, sort: Sort, *, names: bool, plain: bool = False) -> Pattern:
        """A pattern of any form; a ``plain`` one fits everything."""
        if plain or self.chance(0.5):
            if names and self.chance(0.7):
                name = self.name("p")
                return Pattern(name, lambda _, value: {name: value}, [(name, sort)], is_certain=True)
            return Pattern("_", lambda _, __: {}, [], is_certain=True)
        if sort in {COUNT, NODE, BOOL} or sort.kind in {"set", "seq"}:
            return self.compared(sort)
        return self.outer(sort, names=names)

    def compared(self, sort: Sort) -> Pattern:
        if sort in {COUNT, BOOL} and self.chance(0.5):
            value = self.random.choice([0, 1, 2] if sort == COUNT else [True, False])
            return Pattern(str(value).lower(), lambda _, each: {} if each == value else None, [], is_certain=False)
        wanted = self.seen(sort, 1 if self.chance(0.3) else 0)
        if sort.kind == "set" or not wanted.text.isidentifier():
            wanted = Made(f"({wanted.text})", wanted.mean) if not wanted.text.startswith("(") else wanted
        return Pattern(
            f"=={wanted.text}", lambda env, each: {} if each == wanted.mean(env) else None, [], is_certain=False
        )

    # --------------------------------------------------------------------------------------------------- match

    def cases(self, depth: int, make: Callable[[], Any]) -> tuple[str, list[tuple[str, Any]], Meaning]:
        """A value with the cases of a `match` that cover all of its values, each with what is made of it."""
        value, sort = self.subject(depth)
        patterns = [
            each for each in (self.outer(sort) for _ in range(self.random.randint(0, 2))) if not each.is_certain
        ]
        patterns = [each for each in patterns if "(" in each.text and not self.is_plain_variant(each)][:1]
        ending = "else" if self.chance(0.4) else ""
        if not ending:
            patterns += self.all_of(sort)
        made = [(each.text, self.within(each.scope, make)) for each in patterns]
        if ending:
            made.append(("else", make()))

        def mean(env: Environment) -> Any:
            held = value.mean(env)
            for at, pattern in enumerate(patterns):
                bound = pattern.fits(env, held)
                if bound is not None:
                    return made[at][1].mean(env.bind(**bound))
            return made[-1][1].mean(env)

        return value.text, made, mean

    def is_plain_variant(self, pattern: Pattern) -> bool:
        """Whether a pattern has no part that may not fit, so that another case of its variant would not be reached."""
        return all(
            part.strip(" _,()").isidentifier() or not part.strip(" _,()")
            for part in pattern.text.partition("(")[2].split(",")
        )

    def all_of(self, sort: Sort) -> list[Pattern]:
        """Patterns that cover a type."""
        if sort.kind == "enum":
            order = self.random.sample(sort.variants, len(sort.variants))
            return [self.of_parts(sort, name, parts, names=True, is_whole=False, plain=True) for name, parts in order]
        if sort.kind == "option":
            inner = self.pattern(sort.parts[0], names=True, plain=True)
            some = Pattern(
                f"some({inner.text})",
                lambda env, value: None if value is None else inner.fits(env, value.value),
                inner.scope,
                is_certain=False,
            )
            none = Pattern("none", lambda _, value: {} if value is None else None, [], is_certain=False)
            return self.random.sample([some, none], 2)
        return [self.of_parts(sort, sort.name, sort.parts, names=True, is_whole=True, plain=True)]
