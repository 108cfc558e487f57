"""Random syntax trees: every node that the language has, in every place where it may stand, without places."""

from __future__ import annotations

from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from assay.grammar import syntax as s
from assay.grammar.parsing.build_declarations import without_indentation

WORDS = (
    *(
        "type",
        "next",
        "bound",
        "ghost",
        "action",
        "choose",
        "fold",
        "sum",
        "of",
        "match",
        "show",
        "set",
        "map",
        "seq",
        "bag",
    ),
    *(
        "state",
        "init",
        "when",
        "pick",
        "accept",
        "bounds",
        "capacity",
        "any",
        "observe",
        "refuse",
        "max",
        "size",
        "from",
        "stutter",
    ),
    *("then", "in", "not", "forall", "let", "true", "none", "with", "for", "expect"),
)
"""Words of the language: names where no keyword is wanted, and the reserved ones, which stand in backticks."""

NAMES = ("a", "b", "Broker", "epoch_2", "xs", "File", "order", "events", "android", "ifx", "_p", *WORDS)


def tuples(items: SearchStrategy[Any], least: int = 0, most: int = 3) -> SearchStrategy[tuple[Any, ...]]:
    """Tuples of a few items."""
    return st.lists(items, min_size=least, max_size=most).map(tuple)


names = st.sampled_from(NAMES).map(s.Name)
paths = st.builds(s.DottedName, tuples(names, 1, 3))
doc_texts = st.text(st.sampled_from("ab \"\\#'\n:=é"), max_size=20)
docs = st.none() | doc_texts.map(without_indentation)

# ---------------------------------------------------------------------------------------------------- expressions

Exprs = SearchStrategy[s.Expr]

UNARY = ("not", "-", "always", "eventually")
BINARY = (
    *("implies", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "..", "+", "-", "*", "//", "%", "&"),
    *("until", "leads_to"),
)


def atoms() -> Exprs:
    """Expressions without parts."""
    leaves: list[Exprs] = [
        st.integers(0, 99).map(s.IntLit),
        st.booleans().map(s.BoolLit),
        st.just(s.NoneLit()),
        st.just(s.Wildcard()),
        names.map(s.Ref),
    ]
    return st.one_of(leaves)


parts = names.filter(lambda name: name.text != "none")
"""Names that a pattern binds; ``none`` is a pattern of its own there, in backticks too."""

bound = names | st.recursive(
    tuples(st.none() | parts, 2, 3).map(s.TuplePattern),
    lambda inner: tuples(parts | inner, 2, 3).map(s.TuplePattern),
    max_leaves=3,
)


def binders(expr: Exprs) -> SearchStrategy[s.Binder]:
    """``a, b in S``."""
    return st.builds(s.Binder, tuples(bound, 1, 2), expr)


literals = st.builds(s.LiteralPattern, st.booleans() | st.integers(-9, 9))
variants = paths | st.just(s.DottedName((s.Name("none"),)))


def patterns(expr: Exprs) -> SearchStrategy[s.Pattern | s.TuplePattern]:
    """Patterns, some of them nested. A plain name as a part is a ``Name``."""
    same = st.builds(s.SamePattern, expr)
    alone = st.builds(s.Pattern, tuples(names, 2, 3).map(s.DottedName), st.none())
    leaves = st.none() | parts | literals | same | alone
    inside = (
        leaves | st.builds(s.Pattern, variants, tuples(leaves, 1, 2)) | st.builds(s.TuplePattern, tuples(leaves, 2, 3))
    )
    whole = st.builds(s.Pattern, variants, st.none() | tuples(inside, 1, 2))
    return whole | st.builds(s.TuplePattern, tuples(inside, 2, 3))


def case_patterns(expr: Exprs) -> SearchStrategy[tuple[s.CasePattern, ...]]:
    """The patterns of a case of ``match``."""
    return tuples(patterns(expr) | literals | st.builds(s.SamePattern, expr), 1, 2)


def junctions(expr: Exprs) -> Exprs:
    """``a and b and c``; a list of the same operator at its head would be part of the list itself."""

    def spliced(op: Literal["and", "or"], first: s.Expr, rest: tuple[s.Expr, ...]) -> s.Expr:
        head = first.parts if isinstance(first, s.Junction) and first.op == op else (first,)
        return s.Junction(op, (*head, *rest))

    return st.builds(spliced, st.sampled_from(("and", "or")), expr, tuples(expr, 1, 3))


def compound(expr: Exprs) -> Exprs:
    """Expressions with parts."""
    some_binders = tuples(binders(expr), 1, 2)
    entries = st.builds(s.MapEntry, expr, expr)
    kinds = st.sampled_from(("set", "seq", "bag"))
    forms: list[SearchStrategy[s.Expr]] = [
        st.builds(s.Attr, expr, names),
        st.builds(s.Index, expr, expr),
        st.builds(s.Call, expr, tuples(st.builds(s.Arg, st.none() | names, expr))),
        st.builds(s.With, expr, tuples(st.builds(s.FieldUpdate, names, expr) | entries, 1, 2)),
        st.builds(s.Unary, st.sampled_from(UNARY), expr),
        st.builds(s.Binary, st.sampled_from(BINARY), expr, expr),
        junctions(expr),
        st.builds(s.Is, expr, patterns(expr), st.booleans()),
        st.builds(s.IfThenElse, expr, expr, expr),
        st.builds(s.Quantified, st.sampled_from(("forall", "exists")), some_binders, expr),
        st.builds(s.LetIn, bound, expr, expr),
        st.builds(s.Choose, bound, expr, expr),
        st.builds(s.Fold, bound, expr, bound, expr, expr),
        st.builds(s.Folding, expr, expr, some_binders, st.none() | expr),
        st.builds(s.SetDisplay, tuples(expr)),
        st.builds(s.SeqDisplay, tuples(expr)),
        st.builds(s.Tuple, tuples(expr, 2, 3)),
        st.builds(s.BagDisplay, tuples(expr)),
        st.builds(s.MapDisplay, tuples(entries, 1, 2)),
        st.builds(s.Filter, kinds, bound, expr, expr),
        st.builds(s.Image, kinds, expr, some_binders, st.none() | expr),
        st.builds(s.Tabulate, bound, st.none() | expr, expr),
        st.builds(
            s.Match,
            expr,
            tuples(st.builds(s.MatchCase, case_patterns(expr), expr), 1, 2),
            st.none() | expr,
            st.just(False),
        ),
    ]
    return st.one_of(forms)


expressions: Exprs = st.recursive(atoms(), compound, max_leaves=12)
small: Exprs = st.recursive(atoms(), compound, max_leaves=4)
places: Exprs = st.recursive(
    names.map(s.Ref), lambda inner: st.builds(s.Attr, inner, names) | st.builds(s.Index, inner, small), max_leaves=3
)
actions: Exprs = places | st.builds(s.Call, places, tuples(st.builds(s.Arg, st.none() | names, small)))

# --------------------------------------------------------------------------------------------------------- blocks


def block_lines(value: Exprs, least: int) -> SearchStrategy[tuple[s.LetLine | s.Conjunct, ...]]:
    """Lines, of which the last is a condition."""
    conjunct = st.builds(s.Conjunct, st.none() | names, value)
    line = st.builds(s.LetLine, bound, small) | conjunct
    return st.builds(lambda before, last: (*before, last), tuples(line, least, 2), conjunct)


def _block_forms(value: Exprs) -> Exprs:
    """Forms of several lines."""
    inner = value | block_lines(value, 1).map(s.BlockValue)
    rest = st.none() | inner
    case = st.builds(s.MatchCase, case_patterns(small), inner)
    multiline = st.builds(s.BlockIf, tuples(st.tuples(small, inner), 1, 2), rest) | st.builds(
        s.Match, small, tuples(case, 1, 2), rest, st.just(True)
    )
    below = block_lines(value, 1).map(s.BlockValue) | multiline
    return multiline | st.builds(
        s.BlockQuantified, st.sampled_from(("forall", "exists")), tuples(binders(small), 1, 2), below
    )


lines: Exprs = st.recursive(small, _block_forms, max_leaves=4)
blocks: Exprs = lines | block_lines(lines, 1).map(s.BlockValue)

# ---------------------------------------------------------------------------------------------------------- types


def _collections(item: SearchStrategy[s.TypeExpr]) -> SearchStrategy[s.TypeExpr]:
    capacity = st.none() | small
    return (
        st.builds(s.OptionType, item)
        | st.builds(s.TupleType, tuples(item, 2, 3))
        | st.builds(s.CollectionType, st.sampled_from(("set", "seq", "bag")), st.tuples(item), capacity)
        | st.builds(s.CollectionType, st.just("map"), st.tuples(item, item), capacity)
    )


def begins_a_type(expr: s.Expr) -> bool:
    """Whether a range may begin with the expression: what stands in parentheses there is a sum, a range, or begins with a word."""
    match expr:
        case s.Binary(op, left):
            return op in ("..", "+", "-", "*", "//", "%", "&") and begins_a_type(left)
        case s.Unary(op, inner):
            return op == "-" and begins_a_type(inner)
        case s.With(base) | s.Attr(base) | s.Index(base) | s.Call(base) | s.Folding(base):
            return begins_a_type(base)
        case _:
            return not isinstance(expr, s.Junction | s.Is | s.Tuple | s.Choose)


types: SearchStrategy[s.TypeExpr] = st.recursive(
    paths.map(s.NamedType) | st.builds(s.RangeType, small.filter(begins_a_type), small), _collections, max_leaves=3
)
fields = st.builds(s.Field, names, types)
takes = fields | st.builds(s.Field, names, st.builds(s.FunctionType, tuples(types, 1, 3), types))

# ----------------------------------------------------------------------------------------------------- statements

simple_statements: SearchStrategy[s.ActionLine] = (
    st.builds(s.Guard, st.sampled_from(("when", "bound")), st.none() | names, expressions | blocks)
    | st.builds(s.Let, bound, expressions)
    | st.builds(s.Pick, binders(small))
    | st.builds(s.Assign, places, expressions)
)


def _blocks(inner: SearchStrategy[s.ActionLine]) -> SearchStrategy[s.ActionLine]:
    block = tuples(inner, 1, 2)
    case = st.builds(s.ActionCase, case_patterns(small), block)
    return st.one_of(
        st.builds(s.If, tuples(st.tuples(small, block), 1, 2), tuples(inner, 0, 2)),
        st.builds(s.For, binders(small), block),
        st.builds(s.ActionMatch, small, tuples(case, 1, 2), st.none() | block),
    )


bodies = tuples(st.recursive(simple_statements, _blocks, max_leaves=4), 1, 3)

# --------------------------------------------------------------------------------------------------- declarations

bindings = st.builds(s.Binding, paths, small)
parameters = tuples(st.builds(s.ActionParameter, names, types | small))
fairness = st.none() | st.builds(s.Fairness, st.booleans(), tuples(names, 0, 2))
labels = paths | st.builds(s.CapacityLabel, paths)
conjuncts = tuples(st.builds(s.Conjunct, st.none() | names, expressions), 1, 3) | block_lines(lines, 0)
accepted = st.builds(s.AcceptBounds, tuples(labels, 1, 2))
starts: SearchStrategy[Any] = st.tuples(st.sampled_from(("=", "in")), small) | st.just((None, None))
variables = st.builds(
    lambda name, kind, start, ghost: s.StateVariable(name, kind, start[0], start[1], ghost),
    names,
    types,
    starts,
    st.booleans(),
)
steps = actions.map(s.Do) | st.builds(s.Refuse, actions, st.none() | paths) | expressions.map(s.Expect)


def _model(name: s.Name, some: tuple[s.Binding, ...], bounds: tuple[s.AcceptBounds, ...]) -> s.ModelBlock:
    return s.ModelBlock(name, some or (s.Binding(s.DottedName((name,)), s.Ref(name)),), bounds)


def _properties() -> SearchStrategy[s.Declaration]:
    kinds = st.sampled_from(("invariant", "transition", "reachable", "lemma", "property"))
    return st.builds(s.Property, kinds, names, docs, conjuncts) | st.builds(
        s.Property, st.just("terminal"), st.none() | names, docs, conjuncts
    )


versions = st.none() | st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2}){0,2}", fullmatch=True)
strings = st.from_regex(r"[a-z]{1,3}([.+ -][a-z0-9]{1,3}){0,2}", fullmatch=True)
event_names = names | strings.map(s.Name)
defaults = st.none() | (st.none() | st.booleans() | st.integers(-9, 9) | strings | st.just(())).map(s.SourceDefault)
factors = st.integers(1, 1000)
source_items: SearchStrategy[s.SourceItem] = st.builds(
    s.SourceKey, names, strings, st.none() | st.sampled_from(("ns", "ms", "%d/%b %H:%M"))
) | st.builds(
    s.SourceField,
    names,
    strings,
    factors,
    factors,
    st.none() | st.sampled_from(("nearest", "up", "down")),
    st.none() | types,
    defaults,
)
event_fields = fields | names.map(lambda name: s.Field(name, s.TypeOfSource()))
trace_lines: SearchStrategy[s.TraceLine] = (
    paths.map(s.From)
    | st.builds(s.From, paths, tuples(source_items, 1, 3))
    | st.builds(
        s.On,
        tuples(event_names, 1, 2),
        tuples(event_fields),
        st.none() | small,
        st.none() | small,
        tuples(tuples(actions, 1, 2), 1, 2),
        st.none() | small,
        st.none(),
    )
    | st.builds(
        s.On, tuples(names, 1, 2), tuples(fields), st.none() | small, st.none() | small, st.just(()), st.none(), small
    )
    | st.builds(
        s.CallLine,
        tuples(event_names, 1, 2),
        tuples(event_fields),
        tuples(event_fields),
        st.booleans(),
        st.none() | st.tuples(names, names),
        st.none() | small,
        tuples(tuples(actions, 1, 2), 1, 2),
        st.none() | small,
        st.none(),
    )
    | st.builds(s.Slice, names, tuples(names, 1, 2), st.none() | names)
    | st.builds(s.ThreadLine, tuples(names, 1, 3), doc_texts.map(without_indentation))
    | st.builds(s.ReportLine, paths, names, versions, versions, doc_texts.map(without_indentation))
    | st.builds(s.Ends, tuples(paths, 1, 2))
    | st.builds(s.Measure, names, tuples(fields), doc_texts.map(without_indentation), expressions)
    | st.builds(s.Noted, names, tuples(fields), names, doc_texts.map(without_indentation), expressions)
    | st.builds(s.Ignore, tuples(event_names, 1, 3), doc_texts.map(without_indentation))
    | st.builds(s.Numbered, tuples(paths, 1, 2))
    | st.builds(s.Begins)
    | st.builds(s.Hidden, tuples(paths, 1, 2), small)
    | st.builds(
        s.OrderLine,
        st.sampled_from(("file", "thread", "lines", "sequence", "causal")),
        st.none() | st.integers(0, 999),
        st.none() | st.integers(0, 99),
    )
)

counterparts = actions | st.sampled_from((s.Unnamed("stutter"), s.Unnamed("any")))

declarations: SearchStrategy[s.Declaration] = st.one_of(
    st.builds(s.Use, paths, st.none() | names),
    st.builds(s.Instance, names, st.none() | fields, paths, tuples(bindings)),
    st.builds(s.Param, names, st.none() | types, st.none() | small, st.booleans(), st.booleans(), docs),
    expressions.map(s.Assume),
    st.builds(s.TypeAlias, names, types),
    st.builds(s.Enum, names, tuples(st.builds(s.VariantDeclaration, names, tuples(fields, 0, 2)), 1, 4)),
    st.builds(s.RecordDeclaration, names, tuples(fields, 1, 3)),
    st.builds(s.Def, names, tuples(takes), st.none() | types, expressions),
    st.builds(s.Def, names, tuples(takes), st.none() | types, blocks, st.just(True)),
    tuples(variables, 1, 4).map(s.StateBlock),
    bodies.map(s.Init),
    st.builds(s.Action, names, parameters, fairness, docs, bodies),
    st.builds(s.JointAction, names, parameters, fairness, tuples(actions, 1, 3)),
    tuples(paths, 1, 3).map(s.Next),
    st.builds(s.FairGroup, st.builds(s.Fairness, st.booleans(), tuples(names, 0, 2)), tuples(paths, 1, 3)),
    _properties(),
    accepted,
    tuples(expressions, 1, 3).map(s.Show),
    tuples(expressions, 1, 3).map(s.ViewDeclaration),
    st.builds(s.Scenario, names, docs, tuples(steps, 1, 4)),
    st.builds(_model, names, tuples(bindings), tuples(accepted, 0, 1)),
    st.builds(
        s.Refines,
        paths,
        tuples(bindings, 1, 2),
        tuples(st.builds(s.ActionMapping, actions, tuples(counterparts, 1, 3))),
    ),
    st.builds(s.TraceClause, names, st.none() | paths, tuples(trace_lines, 1, 4)),
)

modules = st.builds(s.Module, st.none() | doc_texts, st.none() | paths, tuples(declarations, 0, 5))
