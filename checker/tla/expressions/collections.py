"""Reading parts of values, updating values in one part, and collections made of others."""

from __future__ import annotations

from typing import assert_never

from assay.checker.tla.expressions.formula import PRODUCT, SET, TIGHT, Formula, apply, enclosed, infix
from assay.checker.tla.expressions.known_types import elements_fit, fits, keeps_within
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.types import number, part, payload_field, record_field, type_set, unwrapped
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Access, Changing, Collecting


def access(node: Access, scope: TlaScope) -> Formula:
    """The formula of a part."""
    match node:
        case k.Lookup(_, collection, key):
            whole = scope.formula(collection).within(TIGHT)
            at = index(key, scope) if isinstance(collection.type, t.SeqType) else scope.formula(key)
            return Formula(f"{whole}[{at.text}]")
        case k.Endpoint(_, "only", operand):
            return apply(scope.parts.use("TheOnly"), [scope.formula(operand)])
        case k.Endpoint(_, op, operand):
            return apply(scope.parts.use("Head" if op == "first" else "Last"), [scope.formula(operand)])
        case k.ReadField(_, record, at):
            assert isinstance(record.type, t.RecordType)
            return part(scope.formula(record), record_field(record.type, at))
        case k.Payload(_, operand, variant, at):
            assert isinstance(operand.type, t.EnumType)
            return part(scope.formula(operand), payload_field(operand.type, variant, at))
        case k.Unwrap(_, operand):
            assert isinstance(operand.type, t.OptionType)
            return unwrapped(scope.formula(operand), operand.type.item)
        case _:
            assert_never(node)


def index(key: k.Expr, scope: TlaScope) -> Formula:
    """The index in a TLA+ sequence, which counts from 1."""
    # `s[1]` and not `s[0 + 1]`.
    if isinstance(key, k.Const) and isinstance(key.value, int):
        return Formula(number(key.value + 1))
    return Formula(f"{scope.formula(key).within(TIGHT)} + 1")


def changing(node: Changing, scope: TlaScope) -> Formula:
    """The formula of an updated value."""
    match node:
        case k.UpdateEntry(_, collection, key, value):
            whole, image = scope.formula(collection), scope.formula(value)
            return with_entry(whole, collection.type, key, image, scope)
        case k.UpdateField(_, record, at, value):
            assert isinstance(record.type, t.RecordType)
            field, new = record_field(record.type, at), scope.formula(value)
            return Formula(f"[{scope.formula(record).text} EXCEPT !.{field} = {new.text}]")
        case k.Without(_, collection, key):
            return apply(scope.parts.use("Without"), [scope.formula(collection), scope.formula(key)])
        case _:
            assert_never(node)


def with_entry(whole: Formula, of: t.Type, key: k.Expr, image: Formula, scope: TlaScope) -> Formula:
    """The map or sequence with another entry. Only a partial map may gain a key."""
    if isinstance(of, t.MapType) and of.partial:
        return apply(scope.parts.use("Put"), [whole, scope.formula(key), image])
    return Formula(f"[{whole.text} EXCEPT ![{place(whole, of, key, scope).text}] = {image.text}]")


def place(whole: Formula, of: t.Type, key: k.Expr, scope: TlaScope) -> Formula:
    """A key or index that must be present. TLC ignores an ``EXCEPT`` at an absent one, hence the check."""
    if isinstance(of, t.SeqType):
        at = index(key, scope)
        return apply(scope.parts.use("Checked"), [at, Formula(f"DOMAIN {whole.within(TIGHT)}", SET)])
    assert isinstance(of, t.MapType)
    at = scope.formula(key)
    # A partial map may lack any key of its type, a total one only what is no value of it.
    if of.partial:
        return apply(scope.parts.use("Checked"), [at, Formula(f"DOMAIN {whole.within(TIGHT)}", SET)])
    if fits(key, of.key, scope.fitting) and keeps_within(key, of.key):
        return at
    return apply(scope.parts.use("Checked"), [at, type_set(of.key, scope.parts)])


def collecting(node: Collecting, scope: TlaScope) -> Formula:
    """The formula of a collection."""
    match node:
        case k.Filter():
            return _filter(node, scope)
        case k.Image():
            return _sequence_image(node, scope) if isinstance(node.type, t.SeqType) else _set_image(node, scope)
        case k.Tabulate(_, binder, domain, value):
            name, inner = scope.bind(binder, fits=elements_fit(domain, scope.fitting))
            return enclosed(f"[{name} \\in {elements(domain, scope).text} |-> ", inner.formula(value), "]")
        case k.Interval(_, low, high):
            return Formula(f"{scope.formula(low).within(TIGHT)}..{scope.formula(high).within(TIGHT)}", SET)
        case k.Combine():
            return _combine(node, scope)
        case k.Subsets(_, operand):
            return Formula(f"SUBSET {scope.formula(operand).within(TIGHT)}", SET)
        case k.Keys(_, operand):
            return Formula(f"DOMAIN {scope.formula(operand).within(TIGHT)}", SET)
        case k.Values(_, operand):
            return apply(scope.parts.use("Range"), [scope.formula(operand)])
        case k.Elements(_, operand):
            return contents(scope.formula(operand), operand.type, scope)
        case k.Slice(_, op, operand, length):
            name = scope.parts.use("Take" if op == "take" else "Drop")
            return apply(name, [scope.formula(operand), scope.formula(length)])
        case _:
            assert_never(node)


def contents(value: Formula, of: t.Type, scope: TlaScope) -> Formula:
    """The elements of a collection as a set; for a map, its keys."""
    match of:
        case t.SeqType():
            return apply(scope.parts.use("Range"), [value])
        case t.BagType() | t.MapType():
            return Formula(f"DOMAIN {value.within(TIGHT)}", SET)
        case _:
            return value


def elements(domain: k.Expr, scope: TlaScope) -> Formula:
    """The domain of a binder, as a set."""
    return contents(scope.formula(domain), domain.type, scope)


def _filter(node: k.Filter, scope: TlaScope) -> Formula:
    name, inner = scope.bind(node.binder, fits=elements_fit(node.domain, scope.fitting))
    condition, domain = inner.formula(node.condition), scope.formula(node.domain)
    if isinstance(node.type, t.SeqType):
        return Formula(f"{scope.parts.use('SelectSeq')}({domain.text}, LAMBDA {name} : {condition.text})")
    if isinstance(node.type, t.BagType):
        return apply(scope.parts.use("BagFilter"), [domain, Formula(f"LAMBDA {name} : {condition.text}")])
    return Formula(f"{{{name} \\in {elements(node.domain, scope).text} : {condition.text}}}")


def _sequence_image(node: k.Image, scope: TlaScope) -> Formula:
    (generator,) = node.generators
    name, inner = scope.bind(generator.binder, fits=elements_fit(generator.domain, scope.fitting))
    domain = scope.formula(generator.domain)
    if node.condition is not None:
        test = inner.formula(node.condition)
        domain = Formula(f"{scope.parts.use('SelectSeq')}({domain.text}, LAMBDA {name} : {test.text})")
    return Formula(f"{scope.parts.use('MapSeq')}({domain.text}, LAMBDA {name} : {inner.formula(node.element).text})")


def _set_image(node: k.Image, scope: TlaScope) -> Formula:
    r"""``{e : x \in S}``, as a union of such sets if there are several generators, whose domains may depend on earlier
    ones."""
    inner, ranges = scope, []
    for generator in node.generators:
        domain = elements(generator.domain, inner)
        # After its domain was written: the domain is outside the name's scope.
        name, inner = inner.bind(generator.binder, fits=elements_fit(generator.domain, inner.fitting))
        ranges.append((name, domain))
    last, domain = ranges[-1]
    if node.condition is not None:
        # At the last generator, where all names of the condition are bound.
        domain = Formula(f"{{{last} \\in {domain.text} : {inner.formula(node.condition).text}}}")
    made = Formula(f"{{{inner.formula(node.element).text} : {last} \\in {domain.text}}}")
    for name, domain in reversed(ranges[:-1]):
        made = Formula(f"UNION {{{made.text} : {name} \\in {domain.text}}}", SET)
    return made


def _combine(node: k.Combine, scope: TlaScope) -> Formula:
    left, right = scope.formula(node.left), scope.formula(node.right)
    if isinstance(node.type, t.BagType):
        named = {"union": "BagSum", "difference": "BagMinus", "intersection": "BagMeet"}
        return apply(scope.parts.use(named[node.op]), [left, right])
    match node.op:
        case "union" | "intersection" | "difference":
            return infix(left, {"union": "\\cup", "intersection": "\\cap", "difference": "\\"}[node.op], right, SET)
        case "concat":
            return infix(left, scope.parts.use("\\o"), right, PRODUCT)
        case _:
            assert_never(node.op)
