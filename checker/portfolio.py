"""The engines together: which one answers, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.checker import check as reference
from assay.checker.evaluate.depth import deep_recursion
from assay.checker.explicit import check as explicit
from assay.checker.explicit.bfs import Compiled
from assay.checker.native.build import Machine
from assay.checker.native.module import program
from assay.checker.native.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.watch import DEADLOCK
from assay.checker.verdict import Report
from assay.grammar.diagnostics import Diagnostic, SpecError
from assay.grammar.kernel import Kernel

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
    return Answer(reference.check(kernel, chosen, sources), declined[0])


def compile_kernel(kernel: Kernel, options: SearchOptions, cache: Path | None = None) -> Compiled:
    """The compiled code of a kernel, with the properties that are selected; raises ``UnsupportedError`` or ``SpecError``."""
    text = program(
        kernel, options.properties, deadlock=bool(kernel.next) and options.check_deadlock and options.selects(DEADLOCK)
    )
    return Compiled(
        Machine(text, cache),
        text.layout,
        text.hits,
        tuple((action, label) for action, _, label in (each.partition("\0") for each in text.guards)),
        tuple(each.name for each in text.states),
        tuple(each.name for each in text.steps),
    )
