"""Comments that explain why a mutant survives: ``# survives drop, swap: reason``, behind the line or above it."""

from __future__ import annotations

import re

from assay.checker.mutation.mutants import Mutant
from assay.checker.print_kernel import Sources
from assay.grammar.diagnostics.diagnostic import Span

_REMARK = re.compile(r"#\s*survives (?P<kinds>[a-z]+(?:, [a-z]+)*): (?P<reason>.+)")


def explanation(mutant: Mutant, sources: Sources) -> str | None:
    """The reason given beside the mutant's line for mutants of its kind."""
    for text in (*_beside(mutant.span, sources), *_beside(mutant.line, sources)):
        found = _REMARK.search(text)
        if found and mutant.kind in found["kinds"].split(", "):
            return found["reason"].strip()
    return None


def _beside(place: Span, sources: Sources) -> list[str]:
    """The lines at a place, and the comments that stand directly above them."""
    lines = sources.get(place.file, "").split("\n")
    above = place.line - 1
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    return lines[above : place.end_line]
