"""The mistakes that an edit made, milliseconds after a key: of what it may concern, the nearest declarations first.

The names of all modules are declared anew, which is cheap, since what a name means is found out when it is first read.
Then only the declarations are elaborated that the edit may concern (``affected``), as many as there is time for. What
only the whole spec shows is left to ``load.analyse_text``: scenarios, refinements, accepted bounds, groups of fair
actions, instances of other modules.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics
from assay.grammar.elaborate.affected import affected, declared_names
from assay.grammar.elaborate.build_kernel import top_steps
from assay.grammar.elaborate.declarations.actions import ActionElaborator
from assay.grammar.elaborate.declarations.assumptions import check_assumptions
from assay.grammar.elaborate.declarations.initial import Initial
from assay.grammar.elaborate.declarations.properties import PropertyElaborator, elaborate_shows, elaborate_view
from assay.grammar.elaborate.declarations.scenarios import StepReader
from assay.grammar.elaborate.declarations.trace_clauses import Traces
from assay.grammar.elaborate.elaborate_spec import configuration_of
from assay.grammar.elaborate.expressions.dispatch import check_definition
from assay.grammar.elaborate.modules.find_parameters import find_slots
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.modules.module_tree import ModuleTree, imports_of
from assay.grammar.elaborate.scopes.scope import FunctionEntity
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parsing.parse import Parsed

BUDGET = 0.03
"""Seconds of the processor for the declarations behind the first one."""


@dataclass(frozen=True, slots=True)
class Known:
    """The last text without errors: its units, and its actions by their names."""

    units: Units
    actions: Mapping[str, kernel.Action]


def recheck(known: Known, parsed: Parsed, text: str, budget: float = BUDGET) -> tuple[Diagnostic, ...]:
    """The mistakes in the edited declarations of the top module, and in those that depend on them, as far as found.

    A declaration whose syntax is wrong counts as it was. Nothing is found where the edit uses another module.
    """
    old = known.units.tree
    edited = _with_broken(old.top.tree, parsed)
    # Another module would have to be read, which may take longer than there is time between two keys.
    if set(map(str, imports_of(edited))) != set(map(str, imports_of(old.top.tree))):
        return ()
    diagnostics = Diagnostics()
    tree = ModuleTree(replace(old.top, tree=edited), old.sources, old.broken)
    slots = find_slots(tree)
    units = Units(tree, slots, configuration_of(tree, slots, diagnostics).bindings, diagnostics)
    units.build()
    concerned = affected(old.top.tree, old.sources[old.top.file], parsed.module, text)
    # Time of the processor, and not of the clock: what else the machine does takes nothing away from the budget.
    checks, begun = _Checks(units, known.actions, old.top.tree, diagnostics), time.process_time()
    for declaration in concerned:
        checks.check(declaration)
        if time.process_time() - begun > budget:
            break
    # Of other modules nothing was edited, and what is wrong with them is known.
    return tuple(each for each in diagnostics.sorted() if each.span.file == old.top.file)


def _with_broken(before: syntax.Module, parsed: Parsed) -> syntax.Module:
    """The edited module with the earlier form of the declarations that cannot be parsed now."""
    if parsed.ok:
        return parsed.module
    there = {name for each in parsed.module.declarations for name in declared_names(each)}
    missing = [
        each
        for each in before.declarations
        if (names := set(declared_names(each))) and not names & there and names & parsed.broken
    ]
    return replace(parsed.module, declarations=(*parsed.module.declarations, *missing))


@dataclass(slots=True)
class _Checks:
    """Elaborates single declarations of the top module; what covers all of a kind is done once."""

    units: Units
    actions: Mapping[str, kernel.Action]
    before: syntax.Module
    diagnostics: Diagnostics
    starts_checked: bool = False

    def check(self, declaration: syntax.Declaration) -> None:
        """Find the mistakes in a declaration."""
        top = self.units.canonical()[0]
        match declaration:
            case syntax.Action() | syntax.JointAction():
                ActionElaborator(self.units, self.diagnostics).elaborate_one(top, declaration)
            case syntax.Property():
                PropertyElaborator(self.diagnostics).elaborate_one(top, declaration)
            case syntax.StateBlock() | syntax.Init():
                self._starts()
            case syntax.Assume():
                check_assumptions(self.units, self.diagnostics)
            case syntax.Show():
                elaborate_shows(top, self.diagnostics)
            case syntax.ViewDeclaration():
                elaborate_view(top, self.diagnostics)
            case syntax.Next():
                top_steps(top, self.diagnostics)
            case syntax.TraceClause():
                self._lines(declaration)
            case _:
                self._entries(declaration)

    def _entries(self, declaration: syntax.Declaration) -> None:
        own = self.units.canonical()[0].own
        for name in declared_names(declaration):
            entity = own.get(name)
            if isinstance(entity, FunctionEntity):
                check_definition(entity, self.diagnostics)

    def _starts(self) -> None:
        if not self.starts_checked:
            self.starts_checked = True
            Initial(self.units, self.diagnostics).elaborate()

    def _lines(self, clause: syntax.TraceClause) -> None:
        """The rules of a clause that were edited, or all of them where another declaration was."""
        top = self.units.canonical()[0]
        # Mistakes in `next:` are reported where that declaration is checked, and not at each clause again.
        steps = StepReader(self.actions, top_steps(top, Diagnostics()), self.diagnostics)
        known = {line for each in self.before.declarations if _is_clause(each, clause) for line in _lines(each)}
        edited = frozenset(line for line in clause.lines if line not in known)
        Traces(top, self.units, steps, self.diagnostics).check(clause, edited or frozenset(clause.lines))


def _is_clause(declaration: syntax.Declaration, clause: syntax.TraceClause) -> bool:
    return isinstance(declaration, syntax.TraceClause) and declaration.name == clause.name


def _lines(declaration: syntax.Declaration) -> Iterator[syntax.TraceLine]:
    return iter(declaration.lines if isinstance(declaration, syntax.TraceClause) else ())
