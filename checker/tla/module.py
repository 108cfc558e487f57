"""A whole kernel as a TLA+ module with its configurations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from assay.checker.evaluate.traverse import descendants
from assay.checker.tla.actions import initial, parameters, step
from assay.checker.tla.expressions import write
from assay.checker.tla.formula import Formula, conjunction, disjunction, row
from assay.checker.tla.formula import lines as lines_of
from assay.checker.tla.library import closure, mentions
from assay.checker.tla.names import clean
from assay.checker.tla.properties import conjuncts, stay, type_ok, unreachable
from assay.checker.tla.scope import Parts, Scope, register
from assay.checker.tla.temporal import NO_COUNTERPART, NoCounterpartError, call, fairness, is_never
from assay.checker.tla.testers import Watched, watched
from assay.checker.tla.types import definition
from assay.grammar import kernel as k
from assay.grammar.diagnostics import Diagnostic, Severity, SpecError
from assay.grammar.kernel_types import Sort

LENGTH = 77

NO_DEADLOCK = (
    "\\* What was foretold wrongly ends somewhere, which is no deadlock of the system.\nCHECK_DEADLOCK FALSE\n"
)
STAY = "No deadlock: the system may stop here, or only a bound or a capacity keeps an action from happening."


@dataclass(frozen=True, slots=True)
class Exported:
    """A TLA+ module: its name, the text of each file by file name, and what of the spec is not in it.

    ``invariants``, ``steps`` and ``formulas`` map names of properties to names of definitions: of states, of steps, and of behaviours;
    ``witnesses`` maps each reachable to the invariant that says that it is unreachable, and ``watched`` what TLA+ says by auxiliary
    variables to a module of its own, whose name is that of this one and the property's. ``constants`` are the lines that give the
    constants their values.
    """

    name: str
    files: dict[str, str]
    constants: tuple[str, ...]
    variables: tuple[str, ...]
    invariants: dict[str, str]
    steps: dict[str, str]
    formulas: dict[str, str]
    witnesses: dict[str, str]
    watched: dict[str, Watched]
    warnings: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Page:
    """The sections of the module while they are written."""

    scope: Scope
    foretell: bool
    actions: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    invariants: dict[str, str] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)
    witnesses: dict[str, str] = field(default_factory=dict)
    watched: dict[str, Watched] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def parts(self) -> Parts:
        """What the formulas need."""
        return self.scope.parts


def export(kernel: k.Kernel, name: str | None = None, *, foretell: bool = False) -> Exported:
    """The kernel as a TLA+ module. Raises ``SpecError`` where the system itself has a construct that TLA+ or TLC lacks.

    A property that cannot be expressed is left out, with a warning. With ``foretell`` auxiliary variables say of every temporal property
    whether it holds (NOTE(testers)), and not only where TLC cannot be asked otherwise.
    """
    page = Page(Scope(register(kernel), write), foretell)
    called = clean(name or kernel.name)
    try:
        system = _system(kernel, page)
    except NoCounterpartError as error:
        raise SpecError([error.diagnostic(Severity.ERROR)]) from error
    for each in kernel.properties:
        _property(each, page)
    page.warnings += _left_out(kernel)
    _remaining_actions(kernel, page)
    text = "\n".join([*_head(kernel, called, page), *page.actions, *system, "", *page.properties, "=" * LENGTH, ""])
    files = {f"{called}.tla": text} | _configurations(kernel, called, page) | _watching(kernel, called, page)
    constants = tuple(_constants(kernel, page.parts))
    variables = tuple(page.parts.names.of("variable", variable.name) for variable in kernel.variables)
    found = (page.invariants, page.steps, page.formulas, page.witnesses, page.watched)
    return Exported(called, files, constants, variables, *found, tuple(page.warnings))


def _system(kernel: k.Kernel, page: Page) -> list[str]:
    """Writes the actions that are steps; the lines of ``Next`` and ``Spec``."""
    page.actions += [*definition("Init", initial(kernel, page.scope)), ""]
    for name in kernel.next:
        _action(kernel, kernel.action(name), page)
    ways = [call(name, None, page.scope) for name in kernel.next]
    rest = stay(kernel, page.scope)
    if rest is not None:
        page.actions += [*_comment(STAY), *definition("Stay", rest), ""]
        ways.append(Formula("Stay"))
    lines = [*definition("Next", disjunction(ways)), ""]
    fair = [kernel.action(name) for name in kernel.next if kernel.action(name).fairness is not None]
    spec = "Init /\\ [][Next]_vars"
    if fair:
        lines += [*definition("Fairness", conjunction([fairness(action, page.scope) for action in fair])), ""]
        spec += " /\\ Fairness"
    return [*lines, f"Spec == {spec}"]


def _action(kernel: k.Kernel, action: k.Action, page: Page) -> None:
    names, inner = parameters(action, page.scope)
    known = page.parts.names.of("action", action.name)
    head = f"{known}({', '.join(names)})" if names else known
    made = step(kernel, action, inner)
    page.actions += [*_comment(action.doc), *definition(head, made), ""]


def _remaining_actions(kernel: k.Kernel, page: Page) -> None:
    """The actions that are no steps but of which a property speaks."""
    for name in [each for each in page.parts.called if each not in kernel.next]:
        _action(kernel, kernel.action(name), page)


def _property(node: k.Property, page: Page) -> None:
    try:
        lines = _property_lines(node, page)
    except NoCounterpartError as error:
        what = f"the {node.kind} `{node.name}` is not exported: {error.what}"
        page.warnings.append(Diagnostic(NO_COUNTERPART, error.span, what, severity=Severity.WARNING))
        return
    page.properties += [*_comment(node.doc), *lines, ""] if lines else []


def _property_lines(node: k.Property, page: Page) -> list[str]:
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
            raise NoCounterpartError("a refinement is checked by assay alone", node.span)
        case _:
            assert_never(node.kind)
    return lines


def _temporal_lines(node: k.Property, known: str, page: Page) -> list[str]:
    """The definition of a temporal property; nothing where it becomes a module of its own (NOTE(testers))."""
    own = watched(node, known, page.scope) if page.foretell or not _is_plain(node, page) else None
    if own is not None and own.variables:
        page.watched[node.name] = own
        return []
    page.formulas[node.name] = known
    return definition(known, conjuncts(node, page.scope))


def _is_plain(node: k.Property, page: Page) -> bool:
    """Whether TLC checks the property as it is written."""
    if any(is_never(inner) for each in node.conjuncts for inner in descendants(each.condition)):
        return False
    try:
        conjuncts(node, page.scope)
    except NoCounterpartError:
        return False
    return True


def _left_out(kernel: k.Kernel) -> Iterable[Diagnostic]:
    for scenario in kernel.scenarios:
        what = f"the scenario `{scenario.name}` is not exported: a run is checked by assay alone"
        yield Diagnostic(NO_COUNTERPART, scenario.span, what, severity=Severity.WARNING)
    for trace in kernel.traces:
        what = f"the trace clause `{trace.name}` is not exported: it speaks of logs, not of the model"
        yield Diagnostic(NO_COUNTERPART, trace.span, what, severity=Severity.WARNING)


def _head(kernel: k.Kernel, name: str, page: Page) -> list[str]:
    parts = page.parts
    variables = [parts.names.of("variable", variable.name) for variable in kernel.variables]
    scope = page.scope
    types = definition("TypeOK", type_ok(kernel, scope))
    ranks = [_rank(sort, parts) for sort in kernel.sorts if sort in parts.ranked]
    written = "\n".join(
        [
            *page.actions,
            *page.properties,
            *(line for each in page.watched.values() for line in each.definitions),
            *types,
            *ranks,
            *(line for made in parts.definitions.values() for line in made),
        ]
    )
    operators, modules = closure([name for name in [*parts.used, ":>", "@@"] if mentions(written, name)])
    constants = _declared(kernel, parts)
    lines = [
        *_title(name),
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


def _title(name: str) -> list[str]:
    title = f" MODULE {name} "
    left = (LENGTH - len(title)) // 2
    return [f"{'-' * left}{title}{'-' * (LENGTH - left - len(title))}"]


def _about(kernel: k.Kernel) -> list[str]:
    bound = []
    for parameter in kernel.parameters:
        value = parameter.value
        bound.append(f"\\* {parameter.name} = {_shown(value)}")
    model = f", model {kernel.model}" if kernel.model else ""
    return [f"\\* Exported by assay from the spec {kernel.name}{model}.", *bound]


def _shown(value: object) -> str:
    if isinstance(value, Sort):
        return f"{{{', '.join(value.elements)}}}"
    return str(value).lower() if isinstance(value, bool) else str(getattr(value, "name", value))


def _rank(sort: Sort, parts: Parts) -> str:
    pairs = (f"({parts.names.of('element', name)} :> {place})" for place, name in enumerate(sort.elements, 1))
    return f"{parts.names.of('rank', sort.name)} == {' @@ '.join(pairs)}"


def _declared(kernel: k.Kernel, parts: Parts) -> list[str]:
    elements = dict.fromkeys(
        parts.names.of("element", e) for s in kernel.sorts for e in s.elements if (s.name, e) in parts.atoms
    )
    sorts = [parts.names.of("sort", sort.name) for sort in kernel.sorts]
    return [*sorts, *elements, *(["none"] if parts.needs_none else [])]


def _constants(kernel: k.Kernel, parts: Parts) -> Iterable[str]:
    sorts = {parts.names.of("sort", sort.name): sort for sort in kernel.sorts}
    for name in _declared(kernel, parts):
        if name in sorts:
            elements = [parts.names.of("element", each) for each in sorts[name].elements]
            yield f"{name} = {{{', '.join(elements)}}}"
        else:
            yield f"{name} = {name}"


def _configurations(kernel: k.Kernel, name: str, page: Page) -> dict[str, str]:
    """The configuration that checks everything, and one for each reachable: TLC's counterexample to it is the witness."""
    constants = list(_constants(kernel, page.parts))
    invariants = ["TypeOK", *page.invariants.values()]
    whole = _configuration(constants, invariants, list(page.formulas.values()))
    files = {f"{name}.cfg": whole}
    for node in kernel.properties:
        if node.name in page.witnesses:
            note = f"\\* {node.name} is reachable if TLC finds this invariant violated; its trace is the run.\n"
            files[f"{name}_{clean(node.name)}.cfg"] = note + _configuration(constants, [page.witnesses[node.name]], [])
    return files


def _watching(kernel: k.Kernel, name: str, page: Page) -> dict[str, str]:
    """The modules of properties with auxiliary variables, and their configurations."""
    files = {}
    constants = list(_constants(kernel, page.parts))
    fair = " /\\ Fairness" if any(kernel.action(each).fairness is not None for each in kernel.next) else ""
    for node in kernel.properties:
        if node.name in page.watched:
            own = page.watched[node.name]
            called = f"{name}_{clean(node.name)}"
            spec = f"Watched == Init /\\ Begin /\\ [][Moment]_watched{fair}"
            lines = [
                *_title(called),
                *_comment(node.doc),
                f"EXTENDS {name}",
                "",
                *own.definitions,
                spec,
                "=" * LENGTH,
                "",
            ]
            files[f"{called}.tla"] = "\n".join(lines)
            files[f"{called}.cfg"] = NO_DEADLOCK + _configuration(constants, [], [own.formula], "Watched")
    return files


def _configuration(
    constants: list[str], invariants: list[str], formulas: list[str], specification: str = "Spec"
) -> str:
    lines = [f"SPECIFICATION {specification}"]
    for title, items in (("CONSTANTS", constants), ("INVARIANTS", invariants), ("PROPERTIES", formulas)):
        lines += [title, *(f"    {item}" for item in items)] if items else []
    return "\n".join([*lines, ""])


def _comment(text: str | None) -> Sequence[str]:
    return [f"\\* {line}".rstrip() for line in text.strip().splitlines()] if text else []
