"""Text to syntax tree: ``parse`` a module, ``parse_expression`` a single expression.

The text is cut into declarations (``split_declarations``), each is parsed by itself with Lark, and the mistakes of all
of them are reported together. ``read_file.read_spec`` reads a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity, Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parser_tables import make_parser
from assay.grammar.parsing.build_scenarios_and_traces import SpecBuilder
from assay.grammar.parsing.builder import DeclarationOrigin, string_value
from assay.grammar.parsing.error_recovery import report_faults
from assay.grammar.parsing.line_shift import moved, moved_report
from assay.grammar.parsing.logical_lines import Layout, LayoutFault
from assay.grammar.parsing.spec_text import normalized
from assay.grammar.parsing.split_clause import clause_parts, goes_on
from assay.grammar.parsing.split_declarations import DECLARATION_WORDS, DeclarationTokens, scan
from assay.grammar.syntax import Declaration, DottedName, Expr, Module, TraceClause

#: How deep an expression may be nested: later passes recurse, and Python's stack is finite.
MAX_DEPTH = 200

_OTHER_LANGUAGES = {
    "VARIABLES": "state",
    "VARIABLE": "state",
    "var": "state",
    "vars": "state",
    "variables": "state",
    "CONSTANT": "param",
    "CONSTANTS": "param",
    "const": "param",
    "constant": "param",
    "set": "param",
    "protocol": "module",
    "spec": "module",
    "specification": "module",
    "import": "use",
    "EXTENDS": "use",
    "include": "use",
    "pure": "def",
    "val": "def",
    "run": "scenario",
    "fn": "def",
    "func": "def",
    "function": "def",
    "fun": "def",
    "class": "record",
    "struct": "record",
    "assert": "invariant",
    "safety": "invariant",
    "liveness": "property",
    "temporal": "property",
    "ASSUME": "assume",
}


_INDENTATION = "E009"
"""A line that fits no block: which blocks there are, only the whole declaration shows."""
DECLARATIONS_KEPT = 4096
"""How many declarations are remembered: all bundled specs together have some 1,500."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of parsing a text.

    ``module`` holds the declarations without mistakes. ``broken`` holds every word of the others, so that a later pass
    does not report something as unknown that is declared there.
    """

    module: Module
    diagnostics: tuple[Diagnostic, ...]
    broken: frozenset[str] = frozenset()

    @property
    def ok(self) -> bool:
        """Whether the whole text was understood."""
        return not _errors(self.diagnostics)


@dataclass(frozen=True, slots=True)
class ParsedExpression:
    """The result of parsing a single expression; ``expression`` is None if it has a mistake."""

    expression: Expr | None
    diagnostics: tuple[Diagnostic, ...]


def parse(text: str, file: str, *, in_parts: bool = False) -> Parsed:
    """Parse the text of a spec; ``file`` is the name that places carry. Never raises, whatever the text.

    ``in_parts`` is for texts that are edited: of a long clause only the edited lines are read again.
    """
    text = normalized(text)
    diagnostics = Diagnostics()
    found = scan(text, file, diagnostics)
    parts: list[tuple[DeclarationTokens, Any]] = []
    broken: set[str] = set()
    for chunk in found.chunks:
        part = _read_chunk(chunk, text, file, diagnostics, in_parts)
        if part is None:
            broken |= chunk.words
        else:
            parts.append((chunk, part))
    module = _assemble(parts, found.chunks, _whole(text, file), diagnostics)
    return Parsed(
        Module(module.doc, module.name, module.declarations, tuple(found.comments), span=module.span),
        tuple(diagnostics.sorted()),
        frozenset(broken),
    )


def parse_expression(text: str, file: str) -> ParsedExpression:
    """Parse a text that is one expression."""
    text = normalized(text)
    diagnostics = Diagnostics()
    found = scan(text, file, diagnostics)
    if not found.chunks:
        diagnostics.error("E001", Span(file, 1, 1, 1, 1), "an expression is expected here")
    expression: Expr | None = None
    # What `scan` has reported would stop the parser too: one mistake would be reported twice.
    if not _errors(diagnostics.items):
        expression = _read(text.strip("\n "), "lone_expression", DeclarationOrigin(file, 0), diagnostics)
    return ParsedExpression(expression, tuple(diagnostics.sorted()))


# ------------------------------------------------------------------------------------------------- declarations


def _read_chunk(chunk: DeclarationTokens, text: str, file: str, diagnostics: Diagnostics, in_parts: bool) -> Any:
    """A Declaration, the Path of a ``module`` line, the Token of a documentation string, or None after a report."""
    # What is not sound was reported (`split_declarations`): the parser would only speak of the same place again.
    if not chunk.sound or not _head_is_right(chunk, diagnostics):
        return None
    start = "chunk in parts" if in_parts and chunk.head.text == "trace" else "chunk"
    return _read(chunk.source(text), start, DeclarationOrigin(file, chunk.head.span.line - 1), diagnostics)


def _head_is_right(chunk: DeclarationTokens, diagnostics: Diagnostics) -> bool:
    head = chunk.head
    # Only the first declaration of a text can begin further right. Below it an indented line continues the one above.
    if head.span.column > 1:
        diagnostics.error("E024", head.span, "a declaration starts in the first column")
        return False
    # `size` alone begins nothing: a declaration is `size param N: int`.
    if head.kind == "string" or (
        head.text in DECLARATION_WORDS and (head.text != "size" or chunk.following == "param")
    ):
        return True
    meant = _OTHER_LANGUAGES.get(head.text) or did_you_mean(head.text, DECLARATION_WORDS)
    advice = () if meant is None else (f"did you mean `{meant}`?",)
    if head.text in {"const", "constant"}:
        advice = (*advice, "a value that is computed from others is a `def name() = …`")
    if head.text.lower() in {"constraint", "constraints", "action_constraint", "action_constraints"}:
        advice = ("a limit of the search stands in the actions that could exceed it: `bound e`",)
    diagnostics.error("E002", head.span, f"`{_shortened(head.text)}` does not begin a declaration", *advice)
    return False


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _assemble(
    parts: list[tuple[DeclarationTokens, Any]], chunks: list[DeclarationTokens], span: Span, diagnostics: Diagnostics
) -> Module:
    doc: str | None = None
    name: DottedName | None = None
    declarations: list[Declaration] = []
    for chunk, part in parts:
        place = chunk.head.span
        match part:
            case Token():
                if chunk is not chunks[0]:
                    diagnostics.error("E023", place, "the documentation of a module stands at the top of the file")
                doc = string_value(str(part))
            case DottedName():
                # A declaration with a mistake counts too: it stands before this line all the same.
                if any(other.head.kind != "string" for other in chunks[: chunks.index(chunk)]):
                    diagnostics.error("E023", place, "`module` stands once, before all other declarations")
                name = part
            case _:
                declarations.append(part)
    return Module(doc, name, tuple(declarations), span=span)


def _whole(text: str, file: str) -> Span:
    lines = text.split("\n")
    return Span(file, 1, 1, len(lines), len(lines[-1]) + 1)


# ------------------------------------------------------------------------------------------------------ parsing


def warm_up() -> None:
    """Read the parser's tables, which the first declaration that is not remembered would wait for."""
    _parser().parse("true", start="lone_expression")


@cache
def _parser() -> Lark:
    return make_parser(Layout())


def _read(source: str, start: str, origin: DeclarationOrigin, diagnostics: Diagnostics) -> Any:
    node, reports = _read_once(source, start, origin)
    diagnostics.items.extend(reports)
    return node


@lru_cache(maxsize=DECLARATIONS_KEPT)
def _read_once(source: str, start: str, origin: DeclarationOrigin) -> tuple[Any, tuple[Diagnostic, ...]]:
    """A declaration, or None, with the reports about it. An editor asks again after each key, of which one declaration
    is new, and others are moved."""
    # The inner cache has the text alone as its key, as if it stood in line 1. So a declaration that an edit moved is
    # found there, and only its places are made anew.
    node, reports = _read_at_top(source, start, origin.file)
    lines = origin.lines_before
    return moved(node, lines), tuple(moved_report(each, lines) for each in reports)


@lru_cache(maxsize=DECLARATIONS_KEPT)
def _read_at_top(source: str, start: str, file: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    if start == "chunk in parts":
        return _read_clause(source, file) or _read_at_top(source, "chunk", file)
    diagnostics = Diagnostics()
    return _read_source(source, start, DeclarationOrigin(file, 0), diagnostics), tuple(diagnostics.items)


def _read_clause(source: str, file: str) -> tuple[TraceClause | None, tuple[Diagnostic, ...]] | None:
    """A trace clause read line by line, or None in its place, with the reports; None where it cannot be read so."""
    found: list[TraceClause | None] = []
    reports: list[Diagnostic] = []
    for part, lines in clause_parts(source):
        clause, said = _read_part(part, file)
        # The cut may be at fault and not the line. The whole clause is parsed then, which alone may report it.
        if clause is None and (goes_on(part) or any(map(_is_of_the_whole, said))):
            return None
        found.append(moved(clause, lines))
        reports += (moved_report(each, lines) for each in said)
    parts = [each for each in found if each is not None]
    if not parts or len(parts) < len(found):
        # Where nothing was cut there is no answer yet, and the text is parsed as a whole.
        return (None, tuple(reports)) if found else None
    first, last = parts[0].span, parts[-1].span
    span = Span(file, first.line, first.column, last.end_line, last.end_column)
    lines_ = tuple(line for each in parts for line in each.lines)
    return TraceClause(parts[0].name, parts[0].base, lines_, span=span), tuple(reports)


def _is_of_the_whole(report: Diagnostic) -> bool:
    """Whether a report about a part is for the whole clause to make. Each part repeats the head, in its first line."""
    return report.code == _INDENTATION or report.span.line == 1


@lru_cache(maxsize=DECLARATIONS_KEPT)
def _read_part(source: str, file: str) -> tuple[TraceClause | None, tuple[Diagnostic, ...]]:
    diagnostics = Diagnostics()
    return _read_source(source, "chunk", DeclarationOrigin(file, 0), diagnostics), tuple(diagnostics.items)


def _read_source(source: str, start: str, origin: DeclarationOrigin, diagnostics: Diagnostics) -> Any:
    # The builder reports what the grammar cannot refuse. So a tree may come with errors, and is not handed on then.
    before = len(_errors(diagnostics.items))
    try:
        tree = _parser().parse(source, start=start)
    except (UnexpectedInput, LayoutFault):
        report_faults(_parser(), source, start, origin, diagnostics)
        return None
    if not _is_shallow(tree, origin, diagnostics):
        return None
    node = SpecBuilder(origin, diagnostics).transform(tree)
    return node if len(_errors(diagnostics.items)) == before else None


def _is_shallow(tree: Tree[Token], origin: DeclarationOrigin, diagnostics: Diagnostics) -> bool:
    # By a stack and not by recursion: the tree whose depth is in question could exhaust Python's stack.
    stack = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            diagnostics.error(
                "E017",
                origin.span(node.meta),
                "this expression is nested too deeply; name its parts with `def` or `let`",
            )
            return False
        stack.extend(_inside(node, depth))
    return True


def _inside(node: Tree[Token], depth: int) -> Iterator[tuple[Tree[Token], int]]:
    """The trees inside a tree with their depths. A list of conditions joined by one operator is as deep as its deepest
    one."""
    for child in node.children:
        if isinstance(child, Tree):
            # `a and b and c` nests to the left in this tree, but the builder makes one flat `Junction` of it.
            continues = child is node.children[0] and _joins(node) in ("and", "or") and _joins(node) == _joins(child)
            yield child, depth if continues else depth + 1


def _joins(node: Tree[Token]) -> str | None:
    return str(node.children[1]) if node.data == "binary" else None


def _errors(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[Diagnostic]:
    return [d for d in diagnostics if d.severity is Severity.ERROR]
