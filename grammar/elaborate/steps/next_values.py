"""``new(e)`` in an action: e after the step, as an expression over the state before it.

The lines above say what each variable becomes. So ``new(e)`` is e with that in place of every variable that they assign,
and no engine has to know of it. A variable that a later line assigns has no such value yet, which is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Note, Span
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import nodes, rewritten, uses, with_fresh_binders
from assay.grammar.elaborate.scopes.type_relations import unbounded
from assay.grammar.elaborate.types.coercion import fits
from assay.grammar.elaborate.types.constant_folding import NotConstantError, values_of
from assay.grammar.kernel.types import BOOL, AtomType, MapType, RangeType, RecordType, SeqType, SetType, Type
from assay.grammar.lazy_dataclass import dataclass

MOST_PASSES = 64
"""The most passes of a loop that are written out, where it assigns other places than those of its own element."""

Statements = Sequence[kernel.Statement]


class UnknownNextValueError(Exception):
    """A loop assigns a variable in a way that no expression says."""


@dataclass(slots=True, eq=False)
class NextValues:
    """What variables become by the lines of an action so far: those of the blocks around a line, outermost first.

    ``loops`` are the lines of the loops around it, of which other passes may change more. ``read`` are the variables
    whose next values were read, with the places; they may not be assigned any more.
    """

    blocks: tuple[list[kernel.Statement], ...]
    loops: tuple[list[kernel.Statement], ...] = ()
    read: dict[str, Span] = field(default_factory=dict)

    def inside(self, block: list[kernel.Statement], *, loop: bool = False) -> NextValues:
        """The same for the lines of a block inside; ``loop``: of a ``for``."""
        loops = (*self.loops, block) if loop else self.loops
        return NextValues((*self.blocks, block), loops, self.read)

    def __call__(self, expr: kernel.Expr, cx: Context, span: Span) -> kernel.Expr:
        """The expression after the step."""
        variables = {node.name: node for node in nodes(expr) if isinstance(node, kernel.StateVar)}
        # Of the blocks around this line alone: the lines of the other branch of an `if` do not run in this step.
        lines = [line for block in self.blocks for line in block]
        assigned = [name for name in variables if assigns(lines, name)]
        if not assigned:
            message = (
                "no line above assigns what `new` is to read here, so it has the value that it had before the step"
            )
            return cx.forbidden("E414", span, message, "move the line below the assignments, or leave `new` out")
        if any(assigns(block, name) for block in self.loops for name in assigned):
            message = "`new` cannot be read inside the loop that assigns the variable: other passes assign more of it"
            return cx.forbidden("E414", span, message, "move the line below the loop")
        for name in variables:
            # Of the variables that no line has assigned as well: a later assignment would make what is read here wrong.
            self.read.setdefault(name, span)
        try:
            return _after(expr, [variables[name] for name in assigned], lines, cx.fresh)
        except UnknownNextValueError as error:
            return cx.forbidden("E414", span, str(error), "compute the value with `let` above, and assign that")

    def not_read(self, variable: str, cx: Context, span: Span) -> None:
        """Report an assignment to a variable whose next value was read before."""
        if variable in self.read:
            note = Note("`new` was read here", self.read[variable])
            cx.error("E414", span, "this assigns a variable whose next value was read above", note)


def _after(expr: kernel.Expr, variables: list[kernel.StateVar], lines: Statements, fresh: Fresh) -> kernel.Expr:
    # Without a capacity: what the lines make may outgrow it, and the step is cut only when it is stored.
    named = [
        (
            variable.name,
            kernel.Local(unbounded(variable.type), fresh(f"new_{variable.name.replace('.', '_')}"), span=expr.span),
        )
        for variable in variables
    ]
    locals_ = dict(named)

    def later(node: kernel.Node) -> kernel.Node:
        if isinstance(node, kernel.StateVar) and node.name in locals_:
            return replace(locals_[node.name], span=node.span)
        return node

    result = rewritten(expr, later)
    for variable in variables:
        # The lines are in the kernel already. A second copy of what they bind needs other names.
        value = with_fresh_binders(value_after(lines, variable.name, variable, fresh), fresh)
        result = kernel.LetIn(expr.type, locals_[variable.name], value, result, span=expr.span)
    return result


def assigns(lines: Iterable[kernel.Node], variable: str) -> bool:
    """Whether one of the lines assigns the variable or a part of it."""
    return any(isinstance(each, kernel.Assign) and each.variable == variable for line in lines for each in nodes(line))


def value_after(lines: Statements, variable: str, value: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    """What the lines make of a variable that has the value before them.

    Raises ``UnknownNextValueError``. The names that a ``let`` among the lines binds are free in the result.
    """
    for line in lines:
        if not assigns((line,), variable):
            continue
        match line:
            case kernel.Assign(path=path, value=new, type=of):
                value = _put(value, path, _stored(new, of), fresh)
            case kernel.If(condition, then, otherwise):
                # Bound once: both branches read it, so a row of `if` lines would double the text with each line.
                before = kernel.Local(value.type, fresh("before"), span=line.span)
                yes, no = (_of_block(block, variable, before, fresh) for block in (then, otherwise))
                chosen = kernel.IfThenElse(value.type, condition, yes, no, span=line.span)
                value = kernel.LetIn(value.type, before, value, chosen, span=line.span)
            case kernel.For():
                value = _of_loop(line, variable, value, fresh)
            case _:
                raise AssertionError(f"{line.span}: an assignment in a line of no known form")
    return value


def _stored(value: kernel.Expr, of: Type) -> kernel.Expr:
    """A value as it is stored: within its ranges."""
    return value if fits(value.type, of) else kernel.Checked(unbounded(of), value, span=value.span)


def _put(value: kernel.Expr, path: Sequence[kernel.Node], new: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    """The value with a part of it replaced."""
    if not path:
        return new
    whole = kernel.Local(value.type, fresh("whole"), span=new.span)
    step, rest = path[0], path[1:]
    if isinstance(step, kernel.AtField) and isinstance(value.type, RecordType):
        part: kernel.Expr = kernel.ReadField(value.type.fields[step.index].type, whole, step.index, span=step.span)
        changed: kernel.Expr = kernel.UpdateField(
            value.type, whole, step.index, _put(part, rest, new, fresh), span=new.span
        )
    elif isinstance(step, kernel.AtKey) and isinstance(value.type, MapType | SeqType):
        item = value.type.value if isinstance(value.type, MapType) else value.type.item
        part = kernel.Lookup(item, whole, step.key, span=step.span)
        changed = kernel.UpdateEntry(value.type, whole, step.key, _put(part, rest, new, fresh), span=new.span)
    else:
        changed = new  # an error that was reported
    return kernel.LetIn(value.type, whole, value, changed, span=new.span)


def _of_block(lines: Statements, variable: str, value: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    """As ``value_after``, with the names that the lines bind."""
    result = value_after(lines, variable, value, fresh)
    for line in reversed(lines):
        if isinstance(line, kernel.Let) and uses(result, line.binder.name):
            result = kernel.LetIn(result.type, line.binder, line.value, result, span=line.span)
    return result


# ------------------------------------------------------------------------------------------------------------- loops


def _of_loop(loop: kernel.For, variable: str, value: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    before = kernel.Local(value.type, fresh("before"), span=loop.span)
    if isinstance(value.type, MapType) and not value.type.partial and _own_entries(loop, variable):
        result = _each_entry(loop, variable, before, value.type, fresh)
    else:
        result = _pass_by_pass(loop, variable, before, fresh)
    return kernel.LetIn(value.type, before, value, result, span=loop.span)


def _own_entries(loop: kernel.For, variable: str) -> bool:
    """Whether each pass assigns nothing but the entry of its own element."""
    places = [each for each in nodes(loop) if isinstance(each, kernel.Assign) and each.variable == variable]
    # Then no entry is changed by two passes, and all can be computed at once, over a set of any size.
    return all(place.path[:1] == (kernel.AtKey(loop.binder),) for place in places)


def _each_entry(loop: kernel.For, variable: str, before: kernel.Expr, of: MapType, fresh: Fresh) -> kernel.Expr:
    """The map whose entry at each element of the loop's set is what the pass of that element makes of it."""

    def entry_alone(node: kernel.Node) -> kernel.Node:
        if isinstance(node, kernel.Assign) and node.variable == variable:
            return replace(node, path=node.path[1:])
        return node

    # The entry is computed by itself, so the places lose the key of the loop's element.
    lines = tuple(rewritten(line, entry_alone) for line in loop.body)
    old = kernel.Lookup(of.value, before, loop.binder, span=loop.span)
    new = _of_block(lines, variable, old, fresh)
    member = kernel.Member(BOOL, loop.binder, loop.domain, False, span=loop.span)
    value = kernel.IfThenElse(of.value, member, new, old, span=loop.span)
    keys = kernel.TypeDomain(SetType(of.key), of.key, span=loop.span)
    return kernel.Tabulate(of, loop.binder, keys, value, span=loop.span)


def _pass_by_pass(loop: kernel.For, variable: str, before: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    """The passes one after the other; their order does not matter, for no two assign one place."""
    elements = kernel.Local(loop.domain.type, fresh("elements"), span=loop.span)
    value = before
    for item in _items(loop):
        known = kernel.Local(value.type, fresh("before"), span=loop.span)
        there = kernel.Member(BOOL, item, elements, False, span=loop.span)
        changed = _of_block(loop.body, variable, known, fresh)
        changed = kernel.LetIn(changed.type, loop.binder, item, changed, span=loop.span)
        chosen = kernel.IfThenElse(value.type, there, with_fresh_binders(changed, fresh), known, span=loop.span)
        value = kernel.LetIn(value.type, known, value, chosen, span=loop.span)
    return kernel.LetIn(value.type, elements, loop.domain, value, span=loop.span)


def _items(loop: kernel.For) -> list[kernel.Const]:
    item = loop.binder.type
    if isinstance(item, RangeType) or (isinstance(item, AtomType) and not item.sort.symmetric):
        try:
            values = [*values_of(item)]
        except NotConstantError:
            values = []
        if 0 < len(values) <= MOST_PASSES:
            return [kernel.Const(item, value, span=loop.span) for value in values]
    raise UnknownNextValueError(
        f"what the loop in line {loop.span.line} makes of the variable cannot be said here: it assigns other places than the entry "
        f"of its own element, and its set is not one of at most {MOST_PASSES} ordered values"
    )
