"""The formatter: a syntax tree as text in its one canonical form.

``parse(format_module(m)).module == m``, formatting is idempotent, and no comment is lost. A comment on a line of its
own stays before the line it precedes. A comment behind a line stays behind it. One inside an expression over several
lines moves before the expression.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.diagnostics.diagnostic import NOWHERE
from assay.grammar.formatting.comments import PrintedPage
from assay.grammar.formatting.declarations import declaration
from assay.grammar.formatting.expressions import expression
from assay.grammar.formatting.items import WIDTH, PrintedItem, line, triple_quoted
from assay.grammar.syntax import (
    Assume,
    Comment,
    Declaration,
    Enum,
    Expr,
    Instance,
    Module,
    Param,
    RecordDeclaration,
    TypeAlias,
    Use,
)

_GROUP: dict[type[Declaration], str] = {
    Use: "modules",
    Instance: "modules",
    Param: "parameters",
    Assume: "parameters",
    TypeAlias: "types",
    Enum: "types",
    RecordDeclaration: "types",
}


def format_expression(expr: Expr) -> str:
    """An expression on one line, with no more parentheses than needed."""
    return expression(expr)


def format_module(module: Module) -> str:
    """The canonical text of a module. It ends in a line end unless the module is empty."""
    # The documentation has no place in the tree. So comments above it, such as a licence, are told by their lines.
    leading = _leading(module.comments) if module.doc is not None else 0
    page = PrintedPage(module.comments[leading:])
    for comment in module.comments[:leading]:
        page.write(0, comment.text)
    if module.doc is not None:
        page.blank_wanted = leading > 0
        page.put([PrintedItem(0, (triple_quoted(module.doc),), NOWHERE)])
    if module.name is not None:
        page.put([line(0, f"module {module.name.shown}", module.name)])
    page.blank_wanted = module.doc is not None or module.name is not None
    _declarations(page, module.declarations)
    page.finish()
    return page.text()


def _leading(comments: Iterable[Comment]) -> int:
    """How many comments stand on the first lines of the file, one a line."""
    count = 0
    for comment in comments:
        if not comment.own_line or comment.line != count + 1:
            break
        count += 1
    return count


def _declarations(page: PrintedPage, declarations: Iterable[Declaration]) -> None:
    """One blank line between two declarations, but none between neighbours of one group that take a line each."""
    before: tuple[object, bool] | None = None
    for node in declarations:
        items = declaration(node)
        now = (_GROUP.get(type(node), type(node)), len(items) == 1 and len(items[0].lines) == 1)
        # Not a plain assignment: before the first declaration a blank line is wanted because of what stands above it.
        page.blank_wanted |= before is not None and not (now == before and now[1])
        page.put(items)
        before = now


__all__ = ["WIDTH", "format_expression", "format_module"]
