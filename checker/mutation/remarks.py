"""Comments that say why a mutant survives: ``# survives drop, swap: reason``, behind the line or on the lines above it."""

from __future__ import annotations

import re

from assay.checker.mutation.mutant import Mutant
from assay.checker.print_kernel import Sources

_REMARK = re.compile(r"#\s*survives (?P<kinds>[a-z]+(?:, [a-z]+)*): (?P<reason>.+)")


def explanation(mutant: Mutant, sources: Sources) -> str | None:
    """The reason given beside the mutant's line for mutants of its kind."""
    lines = sources.get(mutant.span.file, "").splitlines()
    for text in _beside(lines, mutant.span.line, mutant.span.end_line):
        found = _REMARK.search(text)
        if found and mutant.kind in found["kinds"].split(", "):
            return found["reason"].strip()
    return None


def _beside(lines: list[str], first: int, last: int) -> list[str]:
    """The lines of a statement, and the comments that stand directly above them."""
    above = first - 1
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    return lines[above:last]
