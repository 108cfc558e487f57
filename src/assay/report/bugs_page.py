"""The page docs/kafka-bugs.md, made of the documentation of the specs' safeguards.

A safeguard is a parameter ``param X: bool = true`` whose documentation names an issue (KAFKA-…) or a proposal (KIP-…).
The first paragraph is a title, followed in parentheses by issues, proposals, and the versions of Kafka without the
safeguard. Other paragraphs follow. If the default model is too small to show the bug, they name one that is large
enough: "(model `r3e2`)".
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax import BoolLit, Module, Param

WIDTH = 120
REFERENCE = re.compile(r"\b(?:KAFKA|KIP)-[0-9]+\b")
_MODEL = re.compile(r"\(model `(\w+)`\)")
_HEAD = re.compile(r"(?P<title>.+) \((?P<sources>[^();]+); (?P<versions>[^();]+)\)\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Safeguard:
    """A documented switch of a spec. ``sources`` and ``versions`` are as written; ``text`` has the other paragraphs."""

    spec: str
    parameter: str
    title: str
    sources: str
    versions: str
    text: tuple[str, ...]


def safeguards(spec: str, module: Module) -> Iterator[Safeguard]:
    """The safeguards of a spec, in its order. Raises ValueError where the documentation of one is not in the form."""
    for declared in module.declarations:
        match declared:
            case Param(name=name, default=BoolLit(value=True), doc=str(doc)) if REFERENCE.search(doc):
                yield _safeguard(spec, name.text, doc)
            case _:
                pass


def _safeguard(spec: str, parameter: str, doc: str) -> Safeguard:
    first, *rest = (" ".join(paragraph.split()) for paragraph in doc.split("\n\n"))
    head = _HEAD.fullmatch(first)
    if head is None or not rest:
        raise ValueError(
            f"{spec}: the documentation of {parameter} is not `Title (KAFKA-n, KIP-n; versions).`, a blank line, and a paragraph"
        )
    return Safeguard(spec, parameter, head["title"], head["sources"], head["versions"], tuple(rest))


def bugs_page(found: Iterable[Safeguard]) -> str:
    """The whole page: a table, then a section for each safeguard."""
    # By spec alone: the sort is stable, and a spec's switches stay in the order that it tells them in.
    return "\n".join(_page(sorted(found, key=lambda each: each.spec))) + "\n"


def _page(found: list[Safeguard]) -> Iterator[str]:
    yield "# Kafka's bugs as counterexamples"
    yield ""
    yield from _wrapped(
        "Each rule of the protocol that a bug of Kafka broke is a switch of a spec. Switched off (`--set Switch=false`), `assay check` finds the "
        "shortest run to the bug; switched on, the same property holds. This page is made of the documentation of the switches; a test keeps it "
        "equal, and `tests/kafka/` pins for each the property, the length of the run and its last action. The versions of the replication "
        "protocol (KIP-101, KIP-279, KIP-320) are specs of their own: [kafka-replication.md](kafka-replication.md)."
    )
    yield ""
    yield "| sources | what goes wrong without it | switch |"
    yield "| --- | --- | --- |"
    for each in found:
        yield f"| {each.sources} | {each.title} | [`{each.spec}` `{each.parameter}`](#{_anchor(each)}) |"
    for each in found:
        yield from _section(each)


def _section(each: Safeguard) -> Iterator[str]:
    yield from ("", f"## {each.spec} {each.parameter}", "")
    yield from _wrapped(f"**{each.title}.** {each.sources}; {each.versions}.")
    for paragraph in each.text:
        yield ""
        yield from _wrapped(paragraph)
    yield from ("", f"    assay check {each.spec}{_model(each)} --set {each.parameter}=false")


def _model(each: Safeguard) -> str:
    named = _MODEL.search(" ".join(each.text))
    return f" --model {named[1]}" if named else ""


def _anchor(each: Safeguard) -> str:
    return f"{each.spec.replace('/', '')}-{each.parameter}".lower()


def _wrapped(paragraph: str) -> list[str]:
    return textwrap.wrap(paragraph, WIDTH, break_on_hyphens=False, break_long_words=False)
