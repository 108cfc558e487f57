"""The result of exporting a kernel to TLA+."""

from __future__ import annotations

import re

from assay.checker.tla.temporal_monitors import TlaMonitor
from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TlaExport:
    """A TLA+ module: its name, the text of each file by file name, and warnings about what of the spec is not in it.

    ``invariants``, ``steps`` and ``formulas`` map names of properties to names of definitions: of states, of steps, and
    of behaviours. ``witnesses`` maps each reachable to the invariant that it is unreachable. ``watched`` maps a
    property that needs auxiliary variables to a module of its own, named after this module and the property.
    ``constants`` are the lines that give constants their values, and ``actions`` maps names of actions to those of
    their definitions.
    """

    name: str
    files: dict[str, str]
    constants: tuple[str, ...]
    variables: tuple[str, ...]
    actions: dict[str, str]
    invariants: dict[str, str]
    steps: dict[str, str]
    formulas: dict[str, str]
    witnesses: dict[str, str]
    watched: dict[str, TlaMonitor]
    warnings: tuple[Diagnostic, ...]

    @property
    def elements(self) -> list[str]:
        """The constants that are model values."""
        return list(dict.fromkeys(name for line in self.constants for name in re.findall(r"\w+", line.split(" = ")[1])))
