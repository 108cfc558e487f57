"""The engines together: which one answers, and why."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from assay.checker import check as reference
from assay.checker.evaluate.depth import deep_recursion
from assay.checker.explicit import check as explicit
from assay.checker.explicit.machine import Compiled
from assay.checker.layout.row import LAYOUT_VERSION
from assay.checker.native.build import Machine
from assay.checker.native.module import Program, program
from assay.checker.native.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.watch import DEADLOCK
from assay.checker.verdict import Report
from assay.grammar.diagnostics import NOWHERE, Diagnostic, SpecError
from assay.grammar.kernel import Kernel

NATIVE_ONLY = "E823"
Engine = Literal["auto", "reference", "native"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A report, and what kept the native engine from giving it, if something did."""

    report: Report
    declined: Diagnostic | None = None


def check(
    kernel: Kernel,
    options: SearchOptions | None = None,
    sources: Sources | None = None,
    engine: Engine = "auto",
    cache: Path | None = None,
) -> Answer:
    """Check with an engine; ``auto`` is the native one if every construct compiles, else the reference one.

    Raises ``SpecError`` if the engine that was asked for by name does not support a construct, or as the reference engine does.
    """
    chosen = options or SearchOptions()
    reference.refuse_unknown_names(kernel, chosen)
    if engine == "reference":
        _refuse_native_options(chosen, ())
        return Answer(reference.check(kernel, chosen, sources))
    try:
        with deep_recursion(kernel):
            compiled = compile_kernel(kernel, chosen, cache)
    except UnsupportedError as error:
        declined: tuple[Diagnostic, ...] = (error.diagnostic,)
    except SpecError as error:
        declined = error.diagnostics
    else:
        return Answer(explicit.check(kernel, compiled, chosen, sources))
    if engine == "native":
        raise SpecError(declined)
    _refuse_native_options(chosen, declined)
    return Answer(reference.check(kernel, chosen, sources), declined[0])


def _refuse_native_options(options: SearchOptions, declined: tuple[Diagnostic, ...]) -> None:
    """Raise ``SpecError`` if something was asked for that the reference engine does not do."""
    asked = {
        "a checkpoint": options.checkpoint is not None,
        "a memory budget": options.memory is not None,
        "a choice of fingerprints": options.fingerprints != "auto",
    }
    problems = [
        Diagnostic(NATIVE_ONLY, NOWHERE, f"the reference engine has no use for {name}")
        for name, wanted in asked.items()
        if wanted
    ]
    if problems:
        raise SpecError((*problems, *declined))


def compile_kernel(kernel: Kernel, options: SearchOptions, cache: Path | None = None) -> Compiled:
    """The compiled code of a kernel, with the properties that are selected; raises ``UnsupportedError`` or ``SpecError``."""
    text = program(kernel, options.properties, deadlock=options.check_deadlock and options.selects(DEADLOCK))
    return Compiled(
        Machine(text, cache),
        text.layout,
        text.hits,
        tuple((action, label) for action, _, label in (each.partition("\0") for each in text.guards)),
        tuple(each.name for each in text.states),
        tuple(each.name for each in text.steps),
        len(kernel.next),
        _identity(kernel, text),
    )


def _identity(kernel: Kernel, text: Program) -> bytes:
    """A hash of all that compiled code does, and of the names behind its arrays."""
    names = (kernel.name, kernel.next, text.hits, text.guards, [(p.kind, p.name) for p in (*text.states, *text.steps)])
    return sha256(f"{LAYOUT_VERSION}\n{names}\n{text.text}".encode()).digest()
