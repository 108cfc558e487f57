"""What an editor offers beside names: fixes that messages propose, checks to run, and how many instances there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import prod

from assay.checker.interpreter.actions.action import ActionMeaning
from assay.checker.interpreter.compiled_model import Model
from assay.editor.analysis import Document
from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span
from assay.grammar.lazy_dataclass import dataclass

_PROPOSED = re.compile(r"did you mean (?P<guess>`[^`]+`)\?|(?P<meant>`[^`]+`) is meant|write (?P<written>`[^`]+`.*)")
"""How messages say what stands in the place of what they report. They are read here, so that an editor offers what a
person reads."""
_QUOTED = re.compile(r"`([^`]+)`")
# Messages that propose a sign or an operator, and so more than the one word that a name is.
_OF_OPERATORS = frozenset({"E003", "E004", "E006"})
_WORD = re.compile(r"[\w.]+")


@dataclass(frozen=True, slots=True)
class Fix:
    """A text that stands for the place of a diagnostic."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Lens:
    """A check to run, shown above a line: all of the spec where ``name`` is None."""

    line: int
    title: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Hint:
    """A text that is shown behind a place, and is not part of the document."""

    line: int
    column: int
    text: str


def fixes(document: Document, diagnostic: Diagnostic) -> Iterator[Fix]:
    """What the message of a diagnostic proposes for its place; a form with gaps, such as ``keys(m)``, is none."""
    if diagnostic.span.file != document.file:
        return
    for said in (diagnostic.message, *(note.message for note in diagnostic.notes if note.span is None)):
        for found in _PROPOSED.finditer(said):
            for text in _QUOTED.findall(found["guess"] or found["meant"] or found["written"]):
                if diagnostic.code in _OF_OPERATORS or _WORD.fullmatch(text):
                    yield Fix(diagnostic.span, _apart(document, diagnostic.span, text))


def _apart(document: Document, place: Span, text: str) -> str:
    """The text with spaces where a word would else touch another one: `~a` becomes `not a`."""
    lines = document.text.split("\n")
    before, behind = lines[place.line - 1][: place.column - 1], lines[place.end_line - 1][place.end_column - 1 :]
    begin = " " if re.search(r"\w$", before) and re.match(r"\w", text) else ""
    return begin + text + (" " if re.match(r"\w", behind) and re.search(r"\w$", text) else "")


def lenses(document: Document) -> Iterator[Lens]:
    """The checks of the document's own properties and scenarios, where they stand now."""
    declared = document.declarations
    if declared:
        yield Lens(declared[0].span.line, "check this spec", None)
    for each in declared:
        match each:
            case syntax.Property(name=syntax.Name(text=name)):
                yield Lens(each.span.line, f"check {name}", name)
            case syntax.Scenario(name=syntax.Name(text=name)):
                yield Lens(each.span.line, f"run {name}", name)
            case _:
                pass


def hints(document: Document) -> Iterator[Hint]:
    """Behind an action and behind an array of instances, how many instances the model has of it. They are of the last
    text without errors, at the declarations of the present one."""
    if document.loaded is None:
        return
    actions = Model(document.loaded.kernel).actions
    lines = document.text.split("\n")
    for each in document.declarations:
        number: int | None
        match each:
            case syntax.Action(name=name) if each.parameters and name.text in actions:
                number = prod(map(len, actions[name.text].domains()))
            case syntax.Instance(name=name, index=syntax.Field()):
                number = _elements(f"{name.text}.", actions.values())
            case _:
                continue
        line = lines[each.span.line - 1].rstrip()
        if number is not None:
            text = "1 instance" if number == 1 else f"{number:,} instances"
            yield Hint(each.span.line, len(line) + 1, text)


def _elements(prefix: str, actions: Iterable[ActionMeaning]) -> int | None:
    """How many elements the index of an array has, which is the first parameter of each of its actions."""
    own = next((each for each in actions if each.node.name.startswith(prefix)), None)
    return None if own is None else len(own.domains()[0])
