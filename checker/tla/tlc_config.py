"""The files beside the module of a system: TLC configurations, and modules that extend it for one property."""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.tla.export_result import TlaExport
from assay.checker.tla.expressions.names import clean
from assay.checker.tla.temporal_monitors import TlaMonitor
from assay.grammar import kernel as k

LENGTH = 77


def title(name: str) -> list[str]:
    """The first line of a module."""
    text = f" MODULE {name} "
    left = (LENGTH - len(text)) // 2
    return [f"{_dashes(left)}{text}{_dashes(LENGTH - left - len(text))}"]


def _dashes(count: int) -> str:
    return "-" * max(4, count)


def comment(text: str | None) -> list[str]:
    """A text as a comment."""
    return [f"\\* {line}".rstrip() for line in text.strip().splitlines()] if text else []


def configuration(
    constants: Sequence[str], invariants: Sequence[str], formulas: Sequence[str], specification: str = "Spec"
) -> str:
    """A configuration of TLC."""
    lines = [f"SPECIFICATION {specification}"]
    for head, items in (("CONSTANTS", constants), ("INVARIANTS", invariants), ("PROPERTIES", formulas)):
        lines += [head, *(f"    {item}" for item in items)] if items else []
    return "\n".join([*lines, ""])


def witness(system: str, node: k.Property, never: str, constants: Sequence[str]) -> dict[str, str]:
    """The configuration of a reachable: TLC's counterexample to the invariant "unreachable" is the witness."""
    note = f"\\* {node.name} is reachable if TLC finds this invariant violated; its trace is the run.\n"
    return {f"{system}_{clean(node.name)}.cfg": note + configuration(constants, [never], [])}


def watching(system: str, node: k.Property, own: TlaMonitor, constants: Sequence[str], *, fair: bool) -> dict[str, str]:
    """The module of a property with auxiliary variables, and its configuration."""
    # A step that changes nothing, because older versions of TLC know no `CHECK_DEADLOCK` in a configuration.
    note = "\\* What was foretold wrongly ends somewhere. It stands still there, and is no deadlock of the system."
    # The system's own `Fairness` still speaks of `vars`, which the auxiliary variables do not belong to.
    spec = "Watched == Init /\\ Begin /\\ [][Moment \\/ UNCHANGED watched]_watched" + (" /\\ Fairness" if fair else "")
    asked = configuration(constants, [], [own.formula], "Watched")
    return _extending(system, node, [*own.definitions, note, spec], asked)


def refinement(
    system: str, node: k.Property, side: TlaExport, lines: Sequence[str], constants: Sequence[str]
) -> dict[str, str]:
    """The module of a refinement, and its configuration."""
    known = {line.split(" = ")[0] for line in constants}
    # Elements that only the abstract side has are constants here too; the others must not be declared twice.
    more = [name for name in side.elements if name not in known]
    declared = [f"CONSTANTS {', '.join(more)}", ""] if more else []
    asked = configuration([*constants, *(f"{name} = {name}" for name in more)], ["Image"], ["Refines"])
    return _extending(system, node, [*declared, *lines], asked)


def _extending(system: str, node: k.Property, lines: Sequence[str], asked: str) -> dict[str, str]:
    called = f"{system}_{clean(node.name)}"
    text = [*title(called), *comment(node.doc), f"EXTENDS {system}", "", *lines, "=" * LENGTH, ""]
    return {f"{called}.tla": "\n".join(text), f"{called}.cfg": asked}
