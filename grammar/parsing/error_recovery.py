"""Error recovery: the parser runs again without the faulty line, to find the next mistake of a declaration."""

from __future__ import annotations

import re

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.parsing.builder import DeclarationOrigin
from assay.grammar.parsing.error_messages import Fault, explain
from assay.grammar.parsing.logical_lines import LayoutFault

# Each attempt parses the declaration again.
MAX_FAULTS = 10

_BRANCH = re.compile(r"\s*(?:elif|else)\b")


def report_faults(parser: Lark, source: str, start: str, origin: DeclarationOrigin, diagnostics: Diagnostics) -> None:
    """Report every mistake in a source that does not parse, one for each faulty line."""
    lines = source.split("\n")
    for attempt in range(MAX_FAULTS):
        fault = _find(parser, "\n".join(lines), start)
        if fault is None:
            return
        finding = explain(fault)
        if attempt > 0 and finding.code == "E010":
            return  # the block is empty only because its faulty lines were taken out
        diagnostics.error(finding.code, origin.span(finding.place), finding.message, *finding.notes)
        # The rest of the declaration is the block below its first line and would be taken out with it.
        if fault.line_number == 1:
            return
        # Blanked and not removed: the lines below keep their numbers.
        _take_out(lines, fault.line_number - 1)


def _find(parser: Lark, source: str, start: str) -> Fault | None:
    """Where the parser stops, with the tokens before and the terminals that could follow."""
    run = parser.parse_interactive(source, start=start)
    read: list[Token] = []
    try:
        for token in run.lexer_thread.lex(run.parser_state):  # type: ignore[no-untyped-call]  # of lark
            run.feed_token(token)
            read.append(token)
        run.feed_eof(read[-1] if read else None)  # type: ignore[no-untyped-call]  # of lark
    except UnexpectedToken as error:
        return Fault(error.token, tuple(read), _accepted(parser, start, read))
    except LayoutFault as error:
        return Fault(error.token, tuple(read), frozenset())
    except UnexpectedCharacters as error:
        token = Token(
            "UNKNOWN", error.char, error.pos_in_stream, error.line, error.column, error.line, error.column + 1
        )
        return Fault(token, tuple(read), _accepted(parser, start, read))
    return None


def _accepted(parser: Lark, start: str, read: list[Token]) -> frozenset[str]:
    """The terminals that could follow what was read, determined before the offending token caused any reduction."""
    # The parser may have reduced rules at the offending token before it refused it. So the tokens before are fed anew.
    run = parser.parse_interactive(start=start)
    for token in read:
        run.feed_token(token)
    return frozenset(run.accepts())  # type: ignore[no-untyped-call]  # of lark


def _take_out(lines: list[str], number: int) -> None:
    """Blank a line with its block, and the branches that belong to it."""
    depth = _depth(lines[number])
    lines[number] = ""
    for index in range(number + 1, len(lines)):
        line = lines[index]
        # A branch without its `if` would be the next mistake that is reported.
        belongs = _depth(line) > depth or (_depth(line) == depth and _BRANCH.match(line))
        if line.strip() and not belongs:
            return
        lines[index] = ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
