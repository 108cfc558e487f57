"""Cuts a text into its declarations before anything is parsed, and reports faulty characters and brackets.

A declaration begins at a line that begins in the first column and is not a continuation. A keyword of a declaration in
the first column always begins one, even inside an unclosed bracket. So a mistake costs no more than its own
declaration. For the same reason the text from one such keyword to the next is read by itself, and the result is kept.
After a key in an editor one stretch of some hundred is read again, and the others are moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from functools import lru_cache

from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Note, Span
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parsing.line_shift import moved_report, moved_span
from assay.grammar.parsing.logical_lines import CLOSERS, LEADING, OPENERS, LogicalLine
from assay.grammar.parsing.other_languages import FOREIGN, PRIMED, form_elsewhere, instead_of
from assay.grammar.syntax import Comment

MAX_BRACKETS = 64
# Python reads no integer of more than 4,300 digits from a text (CVE-2020-10735).
MAX_DIGITS = 1000

_KEYWORDS = (
    "module use instance param size assume type enum record def state init action next invariant transition "
    "reachable lemma property terminal accept show view scenario model refines trace fair strong"
)
DECLARATION_WORDS = frozenset(_KEYWORDS.split())

# The order of the alternatives matters. `foreign` stands before `sign`, or `<=>` would be `<=` and `>`. Of an unclosed
# `"""` only the quotes are taken, so that the declarations after it are still found.
# A number takes the letters behind it: `3x` is one mistake, and not a number beside a name.
_LEXEME = re.compile(
    rf"""(?P<newline>\n)
      | (?P<blank>[ \t]+)
      | (?P<comment>\#[^\n]*)
      | (?P<string>\"\"\"(?:[^\\]|\\.)*?\"\"\"|"(?!"")(?:[^"\\\n]|\\[^\n])*")
      | (?P<unterminated>\"\"\"|"[^\n]*)
      | (?P<number>[0-9]\w*)
      | (?P<foreign>{FOREIGN})
      | (?P<word>[^\W\d]\w*|`[A-Za-z_][A-Za-z0-9_]*`)
      | (?P<sign>:=|==|!=|<=|>=|->|\.\.|//|[-+*%&<>=:.,;?])
      | (?P<open>[(\[{{])
      | (?P<close>[)\]}}])
      | (?P<other>'[^'\n]*'|.)""",
    re.VERBOSE | re.DOTALL,
)

# It must hide what `_LEXEME` takes for a string or a comment. Else a keyword in the first column would cut a string.
_SPLIT = re.compile(
    rf"""\"\"\"(?:[^\\]|\\.)*?\"\"\"|"(?!"")(?:[^"\\\n]|\\[^\n])*" | \"\"\"|"[^\n]* | \#[^\n]* | '[^'\n]*'
      | (?P<head>^(?:{"|".join(sorted(DECLARATION_WORDS))})\b)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""What hides a keyword, as ``_LEXEME`` reads it, and the keywords that begin a stretch."""
SPLITS_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of text of one kind, with its place and offsets."""

    kind: str
    text: str
    span: Span
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DeclarationTokens:
    """One declaration: the lexeme that begins it, the text of the next one, its end, and every identifier and keyword
    in it. ``sound`` is False when one of its lexemes was already reported."""

    head: Lexeme
    following: str
    end: int
    words: frozenset[str]
    sound: bool

    def source(self, text: str) -> str:
        """The text of the declaration, without the comments after its end."""
        return text[self.head.start : self.end]

    def moved(self, characters: int, lines: int) -> DeclarationTokens:
        """The same further down."""
        head = self.head
        start, end, span = head.start + characters, head.end + characters, moved_span(head.span, lines)
        return replace(self, head=replace(head, span=span, start=start, end=end), end=self.end + characters)


@dataclass(slots=True)
class SplitText:
    """The declarations and comments of a text."""

    chunks: list[DeclarationTokens] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)


@dataclass(slots=True)
class _OpenDeclaration:
    """The lexemes of a declaration while it is read."""

    lexemes: list[Lexeme]
    sound: bool = True

    def closed(self) -> DeclarationTokens:
        following = self.lexemes[1].text if len(self.lexemes) > 1 else ""
        words = frozenset(lexeme.text.strip("`") for lexeme in self.lexemes if lexeme.kind == "word")
        return DeclarationTokens(self.lexemes[0], following, self.lexemes[-1].end, words, self.sound)


def lexemes(text: str, file: str) -> Iterator[Lexeme]:
    """Cut a text into lexemes; none is lost, whatever the text."""
    line, line_start = 1, 0
    for match in _LEXEME.finditer(text):
        start, end = match.span()
        column = start - line_start + 1
        newlines = match.group().count("\n")
        first_line = line
        if newlines:
            line += newlines
            # A text in triple quotes spans lines; what follows it stands on its last one.
            line_start = text.rindex("\n", start, end) + 1
        span = Span(file, first_line, column, line, end - line_start + 1)
        yield Lexeme(str(match.lastgroup), match.group(), span, start, end)


def scan(text: str, file: str, diagnostics: Diagnostics) -> SplitText:
    """Find the declarations and the comments of a text."""
    whole, line = SplitText(), 0
    # Parts are scanned as if each were the whole text, and moved to their place. So after a key in an editor all parts
    # but one come from the cache.
    for start, end in _splits(text):
        found, reports = scan_block(text[start:end], file)
        whole.chunks.extend(each.moved(start, line) for each in found.chunks)
        whole.comments.extend(replace(each, line=each.line + line) for each in found.comments)
        diagnostics.items.extend(moved_report(each, line) for each in reports)
        line += text.count("\n", start, end)
    return whole


def _splits(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text from one keyword that always begins a declaration to the next, as offsets."""
    start = 0
    for match in _SPLIT.finditer(text):
        if match["head"] is not None and match.start() > start:
            yield start, match.start()
            start = match.start()
    yield start, len(text)


@lru_cache(maxsize=SPLITS_KEPT)
def scan_block(text: str, file: str) -> tuple[SplitText, tuple[Diagnostic, ...]]:
    """What is in a stretch, and the reports about it, as if it were the whole text."""
    diagnostics = Diagnostics()
    scanner = _Scanner(diagnostics)
    for lexeme in lexemes(text, file):
        scanner.feed(lexeme)
    scanner.finish_chunk()
    return SplitText([each.closed() for each in scanner.chunks], scanner.comments), tuple(diagnostics.items)


class _Scanner:
    """Reads the lexemes in order. Its state is the open declaration, its brackets and its logical line."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.chunks: list[_OpenDeclaration] = []
        self.comments: list[Comment] = []
        self.line = LogicalLine()
        self.brackets: list[Lexeme] = []
        self.indent: Lexeme | None = None
        self.line_begins = True
        self.in_broken_string = False

    def feed(self, lexeme: Lexeme) -> None:
        """Take in one lexeme."""
        match lexeme.kind:
            case "newline":
                self.line_begins, self.indent = True, None
            case "blank":
                self.indent = lexeme if self.line_begins else None
            case "comment":
                own_line = self.line_begins
                place = lexeme.span
                self.comments.append(Comment(lexeme.text.rstrip(), place.line, own_line, place.column))
            case _:
                self._significant(lexeme)
                self.line_begins, self.indent = False, None

    def _significant(self, lexeme: Lexeme) -> None:
        if self.line_begins:
            self._begin_line(lexeme)
        if not self.chunks:
            self.chunks.append(_OpenDeclaration([]))
        self.chunks[-1].lexemes.append(lexeme)
        self.line.feed(lexeme.text)
        self._check(lexeme)

    def _begin_line(self, lexeme: Lexeme) -> None:
        if self.indent is not None and "\t" in self.indent.text:
            self._fault("E008", self.indent.span, "a tab in the indentation; indent with blanks only")
        if lexeme.span.column == 1 and self._begins_declaration(lexeme):
            self.finish_chunk()
            self.chunks.append(_OpenDeclaration([]))
        elif not self.line.goes_on and lexeme.text not in LEADING:
            self.line = LogicalLine()

    def _begins_declaration(self, lexeme: Lexeme) -> bool:
        # A keyword in the first column ends even an open bracket: a mistake in one declaration hides none in the next.
        if lexeme.text in DECLARATION_WORDS:
            return True
        # A closing bracket in the first column belongs to the declaration above, whose items stand one a line.
        goes_on = self.line.goes_on or lexeme.text in LEADING or lexeme.kind == "close"
        # After an unclosed `"""` lines of prose may stand in the first column. Only keywords end the declaration then.
        return not goes_on and not self.in_broken_string

    def finish_chunk(self) -> None:
        """End the open declaration: its brackets must be closed."""
        # One report is enough. The other brackets are open because this one is.
        for opener in self.brackets[:1]:
            self._fault("E011", opener.span, f"`{opener.text}` is never closed", f"expected `{OPENERS[opener.text]}`")
        self.brackets, self.line, self.in_broken_string = [], LogicalLine(), False

    def _fault(self, code: str, span: Span, message: str, *notes: Note | str) -> None:
        self.diagnostics.error(code, span, message, *notes)
        # A tab may stand before the first declaration: none is open then that it could spoil.
        if self.chunks:
            self.chunks[-1].sound = False

    def _check(self, lexeme: Lexeme) -> None:
        match lexeme.kind:
            case "unterminated":
                # A `"` is closed at the end of its line at the latest, so it hides no line below.
                self.in_broken_string = lexeme.text == '"""'
                quote = '"""' if self.in_broken_string else '"'
                self._fault("E015", lexeme.span, f"this string is never closed with `{quote}`")
            case "number":
                self._number(lexeme)
            case "word" if not lexeme.text.isascii():
                self._fault(
                    "E016", lexeme.span, f"`{lexeme.text}` is not a name: names are made of a-z, A-Z, 0-9 and `_`"
                )
            case "foreign":
                self._fault("E006", lexeme.span, instead_of(lexeme.text), *self._of_the_form(lexeme))
            case "open":
                self._open(lexeme)
            case "close":
                self._close(lexeme)
            case "other":
                self._other(lexeme)
            case _:
                pass

    def _of_the_form(self, lexeme: Lexeme) -> Iterator[str]:
        """What to write for the whole of ``CHOOSE x \\in S``, of which the parser sees nothing."""
        before = self.chunks[-1].lexemes[-3:-2] if self.chunks else []
        form = form_elsewhere(before[0].text) if before and lexeme.text in ("\\in", "∈") else None
        if form is not None:
            yield form

    def _number(self, lexeme: Lexeme) -> None:
        if not (lexeme.text.isascii() and lexeme.text.isdigit()):
            self._fault("E001", lexeme.span, f"`{lexeme.text}` is neither a number nor a name")
        elif len(lexeme.text) > MAX_DIGITS:
            self._fault(
                "E018", lexeme.span, f"a number of {len(lexeme.text):,} digits; at most {MAX_DIGITS:,} are allowed"
            )

    def _open(self, lexeme: Lexeme) -> None:
        self.brackets.append(lexeme)
        # Reported once, where the limit is crossed, and not at each bracket inside.
        if len(self.brackets) == MAX_BRACKETS + 1:
            self._fault("E017", lexeme.span, f"brackets are nested more than {MAX_BRACKETS} deep")

    def _close(self, lexeme: Lexeme) -> None:
        if self.brackets and self.brackets[-1].text == CLOSERS[lexeme.text]:
            self.brackets.pop()
        elif not self.brackets:
            self._fault("E012", lexeme.span, f"`{lexeme.text}` closes nothing")
        else:
            # The wrong bracket counts as the right one: the outer brackets stay paired, and one mistake is one report.
            opener = self.brackets.pop()
            note = Note(f"this `{opener.text}` is open", opener.span)
            self._fault("E012", lexeme.span, f"`{lexeme.text}` where `{OPENERS[opener.text]}` is expected", note)

    def _other(self, lexeme: Lexeme) -> None:
        # The last lexeme is this one, which `_significant` has added before.
        before = self.chunks[-1].lexemes[-2:-1]
        if lexeme.text[0] == "'" and before and before[0].kind == "word" and before[0].end == lexeme.start:
            self._fault("E016", lexeme.span, "`'` has no meaning after a name", *PRIMED)
        elif lexeme.text[0] in "'‘’“”`":
            self._fault(
                "E016", lexeme.span, f"`{lexeme.text[0]}` is not a quote here", 'strings stand in double quotes: `"…"`'
            )
        else:
            shown = f"`{lexeme.text}`" if lexeme.text.isprintable() else f"U+{ord(lexeme.text):04X}"
            self._fault("E016", lexeme.span, f"the character {shown} has no meaning here")
