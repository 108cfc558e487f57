"""Engine selection: which engine answers, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.checker.engines import native_engine as explicit
from assay.checker.engines import reference_engine as reference
from assay.checker.engines.enough_slots import search_in_slots
from assay.checker.engines.program_cache import kept_program
from assay.checker.engines.race import race
from assay.checker.explicit.expansion.compiled_interface import Behaviours, Compiled
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.layout.row import LAYOUT_VERSION
from assay.checker.liveness.fairness_events import split
from assay.checker.liveness.plan import plan as temporal_plan
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.native.compile import NativeProgram
from assay.checker.native.program import Program, behaviours, outlined, outlined_behaviours, program
from assay.checker.options import SearchOptions
from assay.checker.partial_order.dependence import Dependence, dependence_of, refuse_unsound
from assay.checker.partial_order.stubborn_sets import StubbornFilter
from assay.checker.print_kernel import Sources
from assay.checker.report import Report
from assay.checker.report_assembly import refuse_unknown_names
from assay.checker.results.state_view import view_of
from assay.checker.search_interface.finding import DEADLOCK
from assay.checker.symmetry.reduction import reduction_of
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.kernel import Expr, Kernel
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.checker.symbolic.certificate.proof import Proofs
    from assay.checker.symbolic.prove import Method

Engine = Literal["auto", "reference", "native", "bmc", "prove", "race"]
DEEPEST = 1_000
"""How many levels the bounded search of a race examines by default."""
CONFIRMING_STATES = 1_000_000
"""The most states of an exhaustive search that confirms a proof where the second encoding cannot."""
NATIVE_ONLY = "E823"


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """A report, and the reason why it is not the native engine's, if there is one."""

    report: Report
    declined: Diagnostic | None = None


def check(
    kernel: Kernel,
    options: SearchOptions | None = None,
    sources: Sources | None = None,
    engine: Engine = "auto",
    cache: Path | None = None,
) -> EngineAnswer:
    """Check with an engine; ``auto`` is the native one if every construct compiles, else the reference one.

    Raises ``SpecError`` if an engine asked for by name does not support a construct, as the reference engine does. It
    does so too if a requested symmetry reduction would be unsound, and where something asked for sees through the
    ``view`` of the kernel (``results.state_view``).
    """
    chosen = options or SearchOptions()
    refuse_unknown_names(kernel, chosen)
    view = view_of(kernel, chosen)
    found = _check(view.kernel, chosen, sources, engine, cache)
    return replace(found, report=view.lifted(found.report))


def _check(
    kernel: Kernel, chosen: SearchOptions, sources: Sources | None, engine: Engine, cache: Path | None
) -> EngineAnswer:
    if engine in ("bmc", "prove"):
        refuse_unknown_names(kernel, chosen)
        _refuse_options(chosen, engine, (), {"a symmetry": chosen.symmetry, "an order": chosen.order == "dfs"})
        if engine == "prove":
            return EngineAnswer(prove(kernel, chosen, sources, cache).report)
        return EngineAnswer(_bounded(kernel, chosen, sources))
    if engine == "race":
        _refuse_options(
            chosen,
            engine,
            (),
            {
                "a symmetry": chosen.symmetry,
                "an order": chosen.order == "dfs",
                "going on after a violation": chosen.keep_going,
            },
        )
        with deep_recursion(kernel):
            return _race(kernel, chosen, sources, cache)
    if chosen.order == "dfs":
        _refuse_for_depth_first(chosen)
    # Depth-first search forgets its states, so there is no graph on which to decide temporal properties.
    try:
        compiled, declined = compile_or_decline(kernel, chosen, engine, cache, temporal=chosen.order == "bfs")
    except SpecError:
        if (found := _in_slots(kernel, chosen, sources, engine, cache)) is None:
            raise
        return EngineAnswer(found)
    if compiled is not None:
        return EngineAnswer(explicit.check(kernel, compiled, chosen, sources))
    found = _in_slots(kernel, chosen, sources, engine, cache)
    return EngineAnswer(reference.check(kernel, chosen, sources), declined) if found is None else EngineAnswer(found)


def _in_slots(
    kernel: Kernel, options: SearchOptions, sources: Sources | None, engine: Engine, cache: Path | None
) -> Report | None:
    """The native engine's report with slots for sets that are too large for bits, where that helps."""
    # A checkpoint would be of a search that may begin again; depth-first search looks for no cuts.
    if engine == "reference" or options.order == "dfs" or options.checkpoint is not None:
        return None

    def search(slotted: Kernel, wanted: SearchOptions) -> Report | None:
        try:
            with deep_recursion(slotted):
                code = compile_kernel(slotted, wanted, cache, hurry=True)
                code = with_behaviours(slotted, code, wanted, cache, hurry=True)
        except (UnsupportedError, SpecError):
            return None
        return explicit.check(slotted, code, wanted, sources)

    with deep_recursion(kernel):
        return search_in_slots(kernel, options, search)


def _bounded(kernel: Kernel, options: SearchOptions, sources: Sources | None) -> Report:
    from assay.checker.symbolic.bounded import bmc  # noqa: PLC0415 - a tenth of a second, for who asks a solver

    return bmc.check(kernel, options, sources)


def _race(kernel: Kernel, options: SearchOptions, sources: Sources | None, cache: Path | None) -> EngineAnswer:
    """The engine that ``auto`` chooses, side by side with bounded search."""
    # Before the race begins: to compile takes the time of a second engine, and both would compile.
    compiled, declined = compile_or_decline(kernel, options, "auto", cache, temporal=True)

    def explicit_search(wanted: SearchOptions) -> Report:
        if compiled is None:
            return reference.check(kernel, wanted, sources)
        return explicit.check(kernel, compiled, wanted, sources)

    def bounded_search(wanted: SearchOptions) -> Report:
        # Without a depth it goes as deep as it comes until the other engine has ended.
        # With `max_states` it would list levels first, as the other engine does already.
        limits = replace(wanted, max_states=None, max_depth=wanted.max_depth or DEEPEST)
        return _bounded(kernel, limits, sources)

    return EngineAnswer(race(explicit_search, bounded_search, options), declined)


def compile_or_decline(
    kernel: Kernel, options: SearchOptions, engine: Engine, cache: Path | None = None, *, temporal: bool = False
) -> tuple[Compiled | None, Diagnostic | None]:
    """The compiled code of the native engine; without it the reference engine runs, by request or for the reason given.

    With ``temporal``, code for temporal properties is compiled too. Raises ``SpecError`` as ``check`` does.
    """
    refuse_unknown_names(kernel, options)
    # For its refusals: they are the same whichever engine answers.
    reduction_of(kernel, options)
    if options.reduce:
        refuse_unsound(kernel, options)
        _refuse_for_reduction(options)
    if engine == "reference":
        _refuse_options(options, "reference", ())
        return None, None
    try:
        with deep_recursion(kernel):
            code = compile_kernel(kernel, options, cache, hurry=True)
            return (with_behaviours(kernel, code, options, cache, hurry=True) if temporal else code), None
    except UnsupportedError as error:
        declined: tuple[Diagnostic, ...] = (error.diagnostic,)
    except SpecError as error:
        declined = error.diagnostics
    # Who asks for an engine by name wants to know that it cannot, and no answer of another one.
    if engine == "native":
        raise SpecError(declined)
    _refuse_options(options, "reference", declined)
    return None, declined[0]


def _refuse_options(
    options: SearchOptions, engine: str, declined: tuple[Diagnostic, ...], more: Mapping[str, bool] | None = None
) -> None:
    """Raise ``SpecError`` for an option that this engine does not support: those of the native engine alone, and
    ``more``."""
    asked = {
        "a checkpoint": options.checkpoint is not None,
        "a memory budget": options.memory is not None,
        "a choice of fingerprints": options.fingerprints != "auto",
        "a reduction": options.reduce,
        **(more or {}),
    }
    _refuse(f"the {engine} engine", asked, declined)


def _refuse(what: str, asked: Mapping[str, bool], declined: tuple[Diagnostic, ...] = ()) -> None:
    """Raise ``SpecError`` for each thing that was asked for and of which this engine or search has no use."""
    problems = [
        Diagnostic(NATIVE_ONLY, NOWHERE, f"{what} has no use for {name}") for name, wanted in asked.items() if wanted
    ]
    if problems:
        raise SpecError((*problems, *declined))


def _refuse_for_depth_first(options: SearchOptions) -> None:
    """Raise ``SpecError`` for what depth-first search would answer wrongly, or cannot answer because it
    forgets states."""
    asked = {
        "a depth: a state that is first reached by a long way would be cut off": options.max_depth is not None,
        "a checkpoint": options.checkpoint is not None,
        "several violations of a property": options.violations > 1,
    }
    _refuse("a depth-first search", asked)


def _refuse_for_reduction(options: SearchOptions) -> None:
    """Raise ``SpecError`` for what a search that leaves steps out would answer wrongly, or cannot save."""
    asked = {
        "depth-first order": options.order == "dfs",
        "a depth: states are found by longer runs than without it": options.max_depth is not None,
        "a checkpoint": options.checkpoint is not None,
        "several violations of a property": options.violations > 1,
    }
    _refuse("a search with partial-order reduction", asked)


def prove(
    kernel: Kernel,
    options: SearchOptions | None = None,
    sources: Sources | None = None,
    cache: Path | None = None,
    by: Method = "ic3",
) -> Proofs:
    """Prove every selected property. What the second encoding cannot confirm, an exhaustive search confirms if it ends.

    Raises ``SpecError`` for a construct without an encoding, and for a selected property that does not exist.
    """
    chosen = options or SearchOptions()
    refuse_unknown_names(kernel, chosen)

    def exhaustive(wanted: SearchOptions) -> Report:
        # The bounds of the user's search do not bind this one: it confirms a proof only if it sees all states.
        limits = replace(wanted, max_depth=None, max_states=CONFIRMING_STATES, keep_going=True)
        return check(kernel, replace(limits, progress=lambda _: None), sources, cache=cache).report

    from assay.checker.symbolic import prove as symbolic  # noqa: PLC0415 - a tenth of a second, for who proves

    return symbolic.prove(kernel, chosen, sources, exhaustive, by)


def compile_kernel(
    kernel: Kernel, options: SearchOptions, cache: Path | None = None, *, hurry: bool = False
) -> Compiled:
    """The compiled code of a kernel for the selected properties, ``hurry`` as of ``NativeProgram``.

    Raises ``UnsupportedError`` or ``SpecError``.
    """
    dependence = dependence_of(Model(kernel), options)
    compiled = _compiled(kernel, translated(kernel, options, dependence, cache), cache, hurry=hurry)
    return compiled if dependence is None else replace(compiled, stubborn=StubbornFilter(kernel, dependence))


def translated(
    kernel: Kernel, options: SearchOptions, dependence: Dependence | None, cache: Path | None = None
) -> Program:
    """The program of a kernel for the selected properties, translated or kept. Raises as ``compile_kernel`` does."""
    reduction = reduction_of(kernel, options)
    deadlock = bool(kernel.next) and options.check_deadlock and options.selects(DEADLOCK)
    group = None if reduction is None else reduction.group
    conditions = None if dependence is None else dependence.conditions
    return kept_program(
        kernel,
        # All options on which the text depends: a kept program is found by them.
        ("states", _names(options), deadlock, options.symmetry, options.reduce),
        cache,
        partial(outlined, kernel, options.properties, group=group, conditions=conditions),
        partial(program, kernel, options.properties, deadlock=deadlock, group=group, conditions=conditions),
    )


def with_behaviours(
    kernel: Kernel, compiled: Compiled, options: SearchOptions, cache: Path | None = None, *, hurry: bool = False
) -> Compiled:
    """The code with that for the selected temporal properties, if there are any. Raises as ``compile_kernel`` does."""
    plan = temporal_plan(Model(kernel), options)
    if plan is None:
        return compiled
    parts = split(kernel, plan.parts)
    text = translated_behaviours(kernel, parts, plan.conditions, options, cache)
    return replace(compiled, behaviours=Behaviours(plan, _compiled(parts, text, cache, hurry=hurry)))


def translated_behaviours(
    kernel: Kernel, parts: Kernel, conditions: Sequence[Expr], options: SearchOptions, cache: Path | None = None
) -> Program:
    """The program for the selected temporal properties of a kernel, whose actions are split into ``parts``."""
    return kept_program(
        kernel,
        ("behaviours", _names(options)),
        cache,
        partial(outlined_behaviours, parts, conditions),
        partial(behaviours, parts, conditions),
    )


def _names(options: SearchOptions) -> list[str] | None:
    # A set has another order in each run, and a kept program would not be found again.
    return None if options.properties is None else sorted(options.properties)


def _compiled(kernel: Kernel, text: Program, cache: Path | None, *, hurry: bool) -> Compiled:
    return Compiled(
        NativeProgram(text, cache, hurry=hurry),
        text.layout,
        text.hits,
        tuple((action, label) for action, _, label in (each.partition("\0") for each in text.guards)),
        tuple(each.name for each in text.states),
        tuple(each.name for each in text.steps),
        len(kernel.next),
        _identity(kernel, text),
        refinements=tuple((each.name, into) for each, into in zip(text.refinements, text.images, strict=True)),
    )


def _identity(kernel: Kernel, text: Program) -> bytes:
    """A hash of everything compiled code does, and of the names behind its arrays."""
    names = (kernel.name, kernel.next, text.hits, text.guards, [(p.kind, p.name) for p in (*text.states, *text.steps)])
    followed = repr(text.refinements) if text.refinements else ""  # of these the code writes images alone
    return sha256(f"{LAYOUT_VERSION}\n{names}\n{followed}{text.text}".encode()).digest()
