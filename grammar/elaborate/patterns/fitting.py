"""``x is Pattern``: the test, and the values of the pattern's variables where the match is certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.expressions.locals import define
from assay.grammar.elaborate.expressions.name_resolution import qualified, resolve
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.narrowing import known_present, widened
from assay.grammar.elaborate.scopes.scope import Scope, TypeEntity, VariantEntity
from assay.grammar.elaborate.scopes.type_relations import ERROR, erased, is_integer, type_text, without_option
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import (
    BOOL,
    INT,
    BoolType,
    EnumType,
    FieldType,
    OptionType,
    RangeType,
    RecordType,
    VariantType,
)
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PatternTest:
    """A pattern test without its negation; ``when_true`` and ``when_false`` are the scopes where it holds and where it
    does not. ``expr`` is the constant true if every value fits and the expression has one."""

    expr: kernel.Expr
    when_true: Scope
    when_false: Scope


def match_pattern(expr: syntax.Is, cx: Context) -> PatternTest:
    """Elaborate the test of a pattern, without the ``not`` of ``is not``."""
    if expr.negated:
        forbid_binders(expr.pattern, cx, "`is not` makes no match certain")
    return fitted(expr.pattern, cx.infer(expr.subject), cx, expr.span)


def fitted(pattern: syntax.CasePattern, subject: kernel.Expr, cx: Context, span: Span) -> PatternTest:
    """The test whether a value fits a pattern."""
    found = _Test(span, cx)
    negative = found.add(pattern, subject)
    if failed(*found.parts):
        return PatternTest(erroneous(span), _declared(pattern, cx), cx.scope)
    test = _conjunction(found.parts, subject, cx, span)
    # Of several conditions one failed, and nothing tells which.
    return PatternTest(test, found.cx.scope, negative if len(found.parts) == 1 else cx.scope)


def _conjunction(parts: list[kernel.Expr], subject: kernel.Expr, cx: Context, span: Span) -> kernel.Expr:
    match parts:
        case []:
            fits = kernel.Const(BOOL, True, span=span)
            if _has_a_value(subject):
                return fits
            # True for every value, but the subject may have none. It is bound and not read, so that the test is
            # undefined too.
            return kernel.LetIn(
                BOOL, kernel.Local(subject.type, cx.fresh("matched"), span=span), subject, fits, span=span
            )
        case [single]:
            return single
        case _:
            return kernel.Logic(BOOL, "and", tuple(parts), span=span)


def _has_a_value(expr: kernel.Expr) -> bool:
    """Whether nothing in an expression can be undefined, as is seen at once: a name, or parts and tuples of names."""
    match expr:
        case kernel.Local() | kernel.StateVar() | kernel.Const():
            return True
        case kernel.ReadField():
            return _has_a_value(expr.record)
        case kernel.MakeRecord():
            return all(map(_has_a_value, expr.items))
        case _:
            return False


def is_about_presence(pattern: syntax.SubPattern) -> bool:
    """Whether a pattern is ``some(…)`` or ``none``: it is of an optional value, also where that is known to be present."""
    return isinstance(pattern, syntax.Pattern) and str(pattern.variant) in {"some", "none"}


def forbid_binders(pattern: syntax.CasePattern, cx: Context, reason: str) -> None:
    """Report the variables of a pattern at a place where none can be bound."""
    for name in _names(pattern):
        if not _names_some_variant(name, cx):
            cx.error("E112", name.span, f"`{name.text}` would be in scope nowhere: {reason}", "write `_` for it")


def _names(pattern: syntax.SubPattern) -> Iterator[syntax.Name]:
    """The plain names among the parts of a pattern, at any depth."""
    if isinstance(pattern, syntax.Pattern | syntax.TuplePattern):
        for part in pattern.parts or ():
            if isinstance(part, syntax.Name):
                yield part
            else:
                yield from _names(part)


def _names_some_variant(name: syntax.Name, cx: Context) -> bool:
    return any(isinstance(entity, VariantEntity) for entity in cx.scope.find(name.text))


def _declared(pattern: syntax.CasePattern, cx: Context) -> Scope:
    """After an error the pattern's variables are declared all the same, so that their uses are not reported too."""
    scope = cx.scope
    for name in _names(pattern):
        if not _names_some_variant(name, cx) and name.text not in scope.locals:
            scope = define(name, kernel.Const(ERROR, None, span=name.span), cx.within(scope))
    return scope


class _Test:
    """The conditions of a pattern in the order in which they are tested, and the scope where all of them hold."""

    def __init__(self, span: Span, cx: Context) -> None:
        self.span = span
        self.cx = cx
        self.parts: list[kernel.Expr] = []

    def add(self, pattern: syntax.SubPattern, subject: kernel.Expr) -> Scope:
        """Add the conditions under which a value fits; the scope is the one where it does not."""
        outside = self.cx.scope
        match pattern:
            case None:
                pass
            case syntax.Name():
                self._name(pattern, subject)
            case syntax.SamePattern(value):
                # Compared and not stored: a value outside of the range is merely another one.
                wanted = erased(subject.type)
                other = convert(self.cx.attempt(value, wanted), wanted, self.cx.diagnostics)
                self._equal(subject, other)
            case syntax.LiteralPattern():
                self._literal(pattern, subject)
            case syntax.TuplePattern(parts):
                self._tuple(pattern, parts, subject)
            case syntax.Pattern():
                return self._constructed(pattern, subject)
        return outside

    def _tuple(self, pattern: syntax.Node, parts: Sequence[syntax.SubPattern], subject: kernel.Expr) -> None:
        match subject.type:
            case _ if failed(subject):
                self.parts.append(subject)
            case RecordType("", fields) if len(fields) == len(parts):
                for index, (part, field) in enumerate(zip(parts, fields, strict=True)):
                    self.add(part, kernel.ReadField(field.type, subject, index, span=self.span))
            case RecordType("", fields):
                text = f"a {type_text(subject.type)} has {len(fields)} values, and the pattern {len(parts)} parts"
                self._fail("E206", pattern.span, text)
            case _:
                self._fail(
                    "E206", pattern.span, f"a pattern in parentheses is of a tuple, found {type_text(subject.type)}"
                )

    def _fail(self, code: str, span: Span, message: str, *notes: str) -> None:
        self.parts.append(self.cx.error(code, span, message, *notes))

    def _equal(self, subject: kernel.Expr, other: kernel.Expr) -> None:
        test = kernel.Equal(BOOL, subject, other, False, span=self.span)
        self.parts.append(erroneous(self.span) if failed(subject, other) else test)

    def _name(self, name: syntax.Name, subject: kernel.Expr) -> None:
        """A variant of the value's type, or else a new name for the value."""
        enum = subject.type
        if isinstance(enum, EnumType) and any(variant.name == name.text for variant in enum.variants):
            self.parts.append(kernel.IsVariant(BOOL, subject, name.text, span=self.span))
        else:
            # The name stands for the expression and binds nothing: where it is read, a copy of the expression is put.
            self.cx = self.cx.within(define(name, subject, self.cx))

    def _literal(self, pattern: syntax.LiteralPattern, subject: kernel.Expr) -> None:
        value, wanted = pattern.value, subject.type
        text = str(value).lower()
        if failed(subject):
            self.parts.append(subject)
        elif isinstance(value, bool) != isinstance(wanted, BoolType) or not (
            isinstance(wanted, BoolType) or is_integer(wanted)
        ):
            self._fail("E201", pattern.span, f"expected {type_text(wanted)}, found `{text}`")
        elif isinstance(wanted, RangeType) and not wanted.low <= value <= wanted.high:
            self._fail("E216", pattern.span, f"no value fits: `{text}` is not in {type_text(wanted)}")
        else:
            type_ = wanted if isinstance(wanted, BoolType | RangeType) else INT
            self._equal(subject, kernel.Const(type_, value, span=pattern.span))

    def _constructed(self, pattern: syntax.Pattern, subject: kernel.Expr) -> Scope:
        outside = self.cx.scope
        # `some` and `none` ask of the optional value itself, also where a test before has made its plain value of it.
        keyword = pattern.variant.parts[0].text if is_about_presence(pattern) else ""
        # An enum may have variants of these names, written in backticks if need be. Its values are not optional.
        if isinstance(subject.type, EnumType) and any(variant.name == keyword for variant in subject.type.variants):
            keyword = ""
        if keyword:
            subject = widened(subject)
        match subject.type:
            case _ if failed(subject):
                self.parts.append(subject)
            case OptionType() if keyword:
                return self._option(pattern, keyword, subject)
            case EnumType() as enum if not keyword:
                self._variant(pattern, enum, subject)
            case RecordType() as record if not keyword and self._is_record(pattern.variant, record):
                values = [
                    kernel.ReadField(field.type, subject, index, span=self.span)
                    for index, field in enumerate(record.fields)
                ]
                self._inside(pattern, values, record.fields)
            case _:
                self._not_matchable(pattern, keyword, subject)
        return outside

    def _is_record(self, path: syntax.DottedName, record: RecordType) -> bool:
        found = self.cx.scope.find(path.parts[0].text)
        # A record of another module may be named by its plain name, as the variants of an enum are: its type says it.
        if len(path.parts) == 1 and not found:
            return path.parts[0].text == record.name
        entity = found[0] if len(path.parts) == 1 and len(found) == 1 else resolve(qualified(path), self.cx)
        return isinstance(entity, TypeEntity) and entity.type == record

    def _not_matchable(self, pattern: syntax.Pattern, keyword: str, subject: kernel.Expr) -> None:
        found, wanted = type_text(subject.type), pattern.variant
        advice = []
        if keyword:
            advice = ["only a value of an optional type such as T? is matched with `some` and `none`"]
        elif isinstance(without_option(subject.type), EnumType | RecordType):
            advice = [f"the value may be none here: write `some({wanted}(…))`, or test it with `!= none` before"]
        self._fail("E206", pattern.span, f"{found} has no variant {wanted}", *advice)

    def _option(self, pattern: syntax.Pattern, keyword: str, subject: kernel.Expr) -> Scope:
        assert isinstance(subject.type, OptionType)
        outside = self.cx.scope
        present = kernel.IsSome(BOOL, subject, span=self.span)
        # Where `none` does not fit the value is present, and where `some(…)` does.
        known = known_present(subject, outside)
        if keyword == "none":
            self.parts.append(kernel.Not(BOOL, present, span=self.span))
            self._counted(pattern, ())
            return known
        self.parts.append(present)
        self.cx = self.cx.within(known)
        item = subject.type.item
        self._inside(pattern, [kernel.Unwrap(item, subject, span=self.span)], (FieldType("v", item),))
        return outside

    def _variant(self, pattern: syntax.Pattern, enum: EnumType, subject: kernel.Expr) -> None:
        variant = _variant(pattern, enum, self.cx)
        if variant is None:
            self.parts.append(erroneous(pattern.span))
            return
        self.parts.append(kernel.IsVariant(BOOL, subject, variant.name, span=self.span))
        values = [
            kernel.Payload(field.type, subject, variant.name, index, span=self.span)
            for index, field in enumerate(variant.fields)
        ]
        self._inside(pattern, values, variant.fields)

    def _inside(self, pattern: syntax.Pattern, values: Sequence[kernel.Expr], fields: tuple[FieldType, ...]) -> None:
        if pattern.parts is not None and self._counted(pattern, fields):
            for part, value in zip(pattern.parts, values, strict=True):
                self.add(part, value)

    def _counted(self, pattern: syntax.Pattern, fields: tuple[FieldType, ...]) -> bool:
        given, wanted = len(pattern.parts or ()), len(fields)
        if given == wanted:
            return True
        things = "name" if wanted == 1 else "names"
        listed = f": {pattern.variant}({', '.join(field.name for field in fields)})" if fields else ""
        message = f"{pattern.variant} has {wanted} {things} to bind, {given} given"
        self._fail("E206", pattern.span, message, f"write `_` for what is not needed{listed}")
        return False


def _variant(pattern: syntax.Pattern, enum: EnumType, cx: Context) -> VariantType | None:
    """The variant of the pattern: the subject's type decides between enums that share its name."""
    *prefix, last = pattern.variant.parts
    if prefix and not _is_variant_of(pattern.variant, enum, cx):
        return None
    for variant in enum.variants:
        if variant.name == last.text:
            return variant
    names = [variant.name for variant in enum.variants]
    guess = did_you_mean(last.text, names)
    advice = f"did you mean `{guess}`?" if guess else f"its variants are {', '.join(names)}"
    cx.error("E206", last.span, f"{enum.name} has no variant {last.text}", advice)
    return None


def _is_variant_of(path: syntax.DottedName, enum: EnumType, cx: Context) -> bool:
    """Whether a dotted name denotes a variant of the enum; reports it if not."""
    entity = resolve(qualified(path), cx)
    if entity is None:
        return False
    if isinstance(entity, VariantEntity) and any(candidate == enum for candidate, _ in entity.candidates):
        return True
    cx.error("E206", path.span, f"{path} is no variant of {enum.name}")
    return False
