"""A whole kernel as a TLA+ module with its configurations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.options import SearchOptions
from assay.checker.results.show_instance import show_parameter
from assay.checker.results.state_view import view_of
from assay.checker.tla.actions import initial, parameters, step
from assay.checker.tla.export_result import TlaExport
from assay.checker.tla.expressions.dispatch import write
from assay.checker.tla.expressions.formula import Formula, conjunction, disjunction, row
from assay.checker.tla.expressions.formula import lines as lines_of
from assay.checker.tla.expressions.names import clean
from assay.checker.tla.expressions.operators import closure, mentions
from assay.checker.tla.expressions.scope import ModuleNeeds, TlaScope, register
from assay.checker.tla.expressions.temporal import NO_COUNTERPART, NoCounterpartError, call, fairness, is_never
from assay.checker.tla.expressions.types import definition
from assay.checker.tla.properties import conjuncts, stay, type_ok, unreachable
from assay.checker.tla.refinement import refining
from assay.checker.tla.temporal_monitors import TlaMonitor, watched
from assay.checker.tla.tlc_config import LENGTH, comment, configuration, refinement, title, watching, witness
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Severity, SpecError
from assay.grammar.elaborate.scopes.type_relations import parts as parts_of
from assay.grammar.kernel.types import RangeType, Sort, Type
from assay.grammar.lazy_dataclass import dataclass

TLC_LARGEST = 2**31 - 1
STAY = "No deadlock: the system may stop here, or only a bound or a capacity keeps an action from happening."
STAY_ANYWHERE = "Deadlocks are not looked for."


@dataclass(slots=True)
class TlaModule:
    """The sections of the module while they are written."""

    kernel: k.Kernel
    called: str
    scope: TlaScope
    foretell: bool
    deadlock: bool
    actions: list[str] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    invariants: dict[str, str] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)
    witnesses: dict[str, str] = field(default_factory=dict)
    watched: dict[str, TlaMonitor] = field(default_factory=dict)
    refining: dict[str, tuple[TlaExport, list[str]]] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def parts(self) -> ModuleNeeds:
        """What the formulas need."""
        return self.scope.parts


def export(kernel: k.Kernel, name: str | None = None, *, foretell: bool = False, deadlock: bool = True) -> TlaExport:
    """The kernel as a TLA+ module. Raises ``SpecError`` where the system itself has a construct that TLA+ or TLC lacks.

    A property that cannot be expressed is left out, with a warning. With ``foretell`` every temporal property is
    checked by auxiliary variables (docs/design/tla-temporal-monitors.md), not only those that TLC does not check as
    they are written. Without ``deadlock`` TLC finds none.
    """
    called = clean(name or kernel.name)
    page = TlaModule(kernel, called, TlaScope(register(kernel), write), foretell, deadlock)
    try:
        _system(kernel, page)
    except NoCounterpartError as error:
        raise SpecError([error.diagnostic(Severity.ERROR)]) from error
    for each in kernel.properties:
        _property(each, page)
    page.warnings += _left_out(kernel)
    # After the properties, which may mention actions that `next` does not.
    _remaining_actions(kernel, page)
    text = "\n".join(
        [*_head(kernel, called, page), *page.actions, *page.system, "", *page.properties, "=" * LENGTH, ""]
    )
    # Of the whole text: a large number may stand in a formula as well as in a type.
    page.warnings += _too_wide(kernel, text)
    constants = tuple(_constants(kernel, page.parts))
    files = {f"{called}.tla": text, f"{called}.cfg": _configuration(page, constants)}
    fair = bool(kernel.fair_together) or any(kernel.action(each).fairness is not None for each in kernel.next)
    for node in kernel.properties:
        if node.name in page.witnesses:
            files |= witness(called, node, page.witnesses[node.name], constants)
        if node.name in page.watched:
            files |= watching(called, node, page.watched[node.name], constants, fair=fair)
        if node.name in page.refining:
            side, lines = page.refining[node.name]
            files |= side.files | refinement(called, node, side, lines, constants)
    variables = tuple(page.parts.names.of("variable", variable.name) for variable in kernel.variables)
    actions = {each.name: page.parts.names.of("action", each.name) for each in kernel.actions}
    found = (page.invariants, page.steps, page.formulas, page.witnesses, page.watched)
    return TlaExport(called, files, constants, variables, actions, *found, tuple(page.warnings))


def _configuration(page: TlaModule, constants: Sequence[str]) -> str:
    """The configuration that checks everything in the module of the system."""
    asked = configuration(constants, ["TypeOK", *page.invariants.values()], list(page.formulas.values()))
    return asked + ("VIEW View\n" if _has_sound_view(page) else "")


def _has_sound_view(page: TlaModule) -> bool:
    """Whether there is a view, and nothing that TLC is asked sees through it; TLC itself does not look."""
    try:
        return bool(view_of(page.kernel, SearchOptions()).hidden)
    except SpecError as error:
        why = error.diagnostics[0]
        text = f"TLC is not given the view: {why.message}"
        page.warnings.append(Diagnostic(NO_COUNTERPART, why.span, text, severity=Severity.WARNING))
        return False


def _system(kernel: k.Kernel, page: TlaModule) -> None:
    """Write the actions of the step relation, ``Next`` and ``Spec``."""
    if not kernel.variables:
        raise NoCounterpartError("TLC checks modules with variables, and this spec has no `state:`", NOWHERE)
    page.actions += [*definition("Init", initial(kernel, page.scope)), ""]
    for name in kernel.next:
        _action(kernel, kernel.action(name), page)
    ways = [call(name, None, page.scope) for name in kernel.next]
    rest = stay(kernel, page.scope, everywhere=not page.deadlock)
    if rest is not None:
        page.actions += [*comment(STAY if page.deadlock else STAY_ANYWHERE), *definition("Stay", rest), ""]
        ways.append(Formula("Stay"))
    lines = [*definition("Next", disjunction(ways)), ""]
    fair = fairness(kernel, page.scope)
    spec = "Init /\\ [][Next]_vars"
    if fair:
        lines += [*definition("Fairness", conjunction(fair)), ""]
        spec += " /\\ Fairness"
    page.system += [*lines, f"Spec == {spec}"]
    if kernel.view:
        names = (page.parts.names.of("variable", each.name) for each in kernel.variables if each.name in kernel.view)
        page.system += ["", f"View == <<{', '.join(names)}>>"]


def _action(kernel: k.Kernel, action: k.Action, page: TlaModule) -> None:
    names, inner = parameters(action, page.scope)
    known = page.parts.names.of("action", action.name)
    head = f"{known}({', '.join(names)})" if names else known
    made = step(kernel, action, inner)
    page.actions += [*comment(action.doc), *definition(head, made), ""]


def _remaining_actions(kernel: k.Kernel, page: TlaModule) -> None:
    """Write the actions that are no steps but occur in a property."""
    for name in [each for each in page.parts.called if each not in kernel.next]:
        _action(kernel, kernel.action(name), page)


def _property(node: k.Property, page: TlaModule) -> None:
    try:
        lines = _property_lines(node, page)
    except NoCounterpartError as error:
        what = f"the {node.kind} `{node.name}` is not exported: {error.what}"
        page.warnings.append(Diagnostic(NO_COUNTERPART, error.span, what, severity=Severity.WARNING))
        return
    page.properties += [*comment(node.doc), *lines, ""] if lines else []


def _property_lines(node: k.Property, page: TlaModule) -> list[str]:
    names = page.parts.names
    known = names.of("property", node.name)
    match node.kind:
        case "invariant" | "lemma":
            lines = definition(known, conjuncts(node, page.scope))
            page.invariants[node.name] = known
        case "transition":
            every = names.of("step", node.name)
            lines = [*definition(every, conjuncts(node, page.scope.after())), f"{known} == [][{every}]_vars"]
            page.steps[node.name], page.formulas[node.name] = every, known
        case "reachable":
            never = names.of("witness", node.name)
            lines = definition(never, unreachable(node, page.scope))
            page.witnesses[node.name] = never
        case "temporal":
            lines = _temporal_lines(node, known, page)
        case "refinement":
            return _refinement_lines(node, page)
        case _:
            assert_never(node.kind)
    return lines


def _temporal_lines(node: k.Property, known: str, page: TlaModule) -> list[str]:
    """The definition of a temporal property; none if it becomes a module of its own
    (docs/design/tla-temporal-monitors.md)."""
    # As it is written where TLC checks that: auxiliary variables multiply the states.
    own = watched(node, known, page.scope) if page.foretell or not _is_plain(node, page) else None
    # A formula without auxiliary variables is one of the state alone, which needs no module.
    if own is not None and own.variables:
        page.watched[node.name] = own
        return []
    page.formulas[node.name] = known
    return definition(known, conjuncts(node, page.scope))


def _is_plain(node: k.Property, page: TlaModule) -> bool:
    """Whether TLC checks the property as it is written."""
    if any(is_never(inner) for each in node.conjuncts for inner in descendants(each.condition)):
        return False
    try:
        conjuncts(node, page.scope)
    except NoCounterpartError:
        return False
    return True


def _refinement_lines(node: k.Property, page: TlaModule) -> list[str]:
    """None: a refinement becomes a module of its own, beside that of the abstract side."""
    refined = next(each for each in page.kernel.refinements if each.name == node.name)
    # A name of its own: the abstract module may be exported to the same folder by itself.
    side = export(refined.abstract, f"{page.called}_{refined.abstract.name}_abstract")
    page.refining[node.name] = side, refining(refined, side, page.kernel.next, page.scope)
    return []


def _left_out(kernel: k.Kernel) -> Iterable[Diagnostic]:
    for scenario in kernel.scenarios:
        what = f"the scenario `{scenario.name}` is not exported: a run is checked by assay alone"
        yield Diagnostic(NO_COUNTERPART, scenario.span, what, severity=Severity.WARNING)
    for trace in kernel.traces:
        what = f"the trace clause `{trace.name}` is not exported: it speaks of logs, not of the model"
        yield Diagnostic(NO_COUNTERPART, trace.span, what, severity=Severity.WARNING)


def _too_wide(kernel: k.Kernel, text: str) -> Iterable[Diagnostic]:
    """A warning about integers beyond 32 bits: TLC cannot read a module that contains one."""
    # Comments may hold any number; TLC does not read them.
    code = "\n".join(line for line in text.split("\n") if not line.startswith("\\*"))
    largest = max((int(number) for number in re.findall(r"\b\d+\b", code)), default=0)
    if largest > TLC_LARGEST:
        place = next((each.span for each in kernel.variables if _is_wide(each.type)), NOWHERE)
        what = f"TLC computes with 32 bits and does not read a module with the number {largest}; choose smaller ranges"
        yield Diagnostic(NO_COUNTERPART, place, what, severity=Severity.WARNING)


def _is_wide(of: Type) -> bool:
    if isinstance(of, RangeType):
        return max(abs(of.low), abs(of.high)) > TLC_LARGEST
    return any(_is_wide(part) for part in parts_of(of))


def _head(kernel: k.Kernel, name: str, page: TlaModule) -> list[str]:
    parts = page.parts
    variables = [parts.names.of("variable", variable.name) for variable in kernel.variables]
    scope = page.scope
    types = definition("TypeOK", type_ok(kernel, scope))
    ranks = [_rank(sort, parts) for sort in kernel.sorts if sort in parts.ranked]
    written = "\n".join(
        [
            *page.actions,
            *page.system,
            *page.properties,
            *(line for each in page.watched.values() for line in each.definitions),
            *(line for _, lines in page.refining.values() for line in lines),
            *types,
            *ranks,
            *(line for made in parts.definitions.values() for line in made),
        ]
    )
    # Asked of the text: a formula that was dropped, such as one without a counterpart, left its needs behind.
    operators, modules = closure([name for name in [*parts.used, ":>", "@@"] if mentions(written, name)])
    constants = _declared(kernel, parts)
    lines = [
        *title(name),
        *_about(kernel),
        f"EXTENDS {', '.join(modules)}",
        "",
    ]
    for operator in operators:
        lines += [*operator.text.split("\n"), ""]
    lines += [f"CONSTANTS {', '.join(constants)}", ""] if constants else []
    lines += [*lines_of(row("VARIABLES ", variables, "")), *definition("vars", row("<<", variables, ">>")), ""]
    lines += ranks
    for made in parts.definitions.values():
        lines += made
    return [*lines, *([""] if parts.definitions or ranks else []), *types, ""]


def _about(kernel: k.Kernel) -> list[str]:
    bound = [f"\\* {parameter.name} = {show_parameter(parameter)}" for parameter in kernel.parameters]
    model = f", model {kernel.model}" if kernel.model else ""
    return [f"\\* Exported by assay from the spec {kernel.name}{model}.", *bound]


def _rank(sort: Sort, parts: ModuleNeeds) -> str:
    # Model values have no order for TLC, so their positions are a function.
    pairs = (f"({parts.names.of('element', name)} :> {place})" for place, name in enumerate(sort.elements, 1))
    return f"{parts.names.of('rank', sort.name)} == {' @@ '.join(pairs)}"


def _declared(kernel: k.Kernel, parts: ModuleNeeds) -> list[str]:
    elements = dict.fromkeys(
        parts.names.of("element", e) for s in kernel.sorts for e in s.elements if (s.name, e) in parts.atoms
    )
    sorts = [parts.names.of("sort", sort.name) for sort in kernel.sorts]
    return [*sorts, *elements, *(["none"] if parts.needs_none else [])]


def _constants(kernel: k.Kernel, parts: ModuleNeeds) -> Iterable[str]:
    sorts = {parts.names.of("sort", sort.name): sort for sort in kernel.sorts}
    for name in _declared(kernel, parts):
        # A set of model values; the elements that formulas mention are constants of their own.
        if name in sorts:
            elements = [parts.names.of("element", each) for each in sorts[name].elements]
            yield f"{name} = {{{', '.join(elements)}}}"
        else:
            yield f"{name} = {name}"
