"""Temporal properties of many kernels asked of TLC in one run.

That a property holds TLC finds out by itself. That one is violated it confirms of the run that assay shows: that run, written as a system that can do
nothing else, begins and goes on as the kernel does, is fair, and does not satisfy the property.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.checker.evaluate.model import Model
from assay.checker.liveness.judge import Run
from assay.checker.tla.module import Exported, export
from assay.checker.verdict import Trace
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t

from .joined import elements, instance
from .tlc import Answer, tlc


@dataclass(frozen=True)
class Question:
    """A kernel, one of its properties, and the run that is said to violate it; None if it is said to hold."""

    kernel: k.Kernel
    property: str
    run: Trace | None


@dataclass(frozen=True)
class Asked:
    """A question as modules: of the kernel, and of the system that is searched."""

    question: Question
    kernel: Exported
    system: Exported


def ask(questions: Sequence[Question], folder: Path) -> Answer:
    """TLC's answer to all questions: complete if it agrees with all of them."""
    asked = [_modules(question, at) for at, question in enumerate(questions)]
    for each in asked:
        for module in (each.kernel, each.system):
            text = module.files[f"{module.name}.tla"]
            (folder / f"{module.name}.tla").write_text(text, encoding="utf-8")
    (folder / "Asked.tla").write_text("\n".join(_joined(asked)), encoding="utf-8")
    (folder / "Asked.cfg").write_text("\n".join(_configuration(asked)), encoding="utf-8")
    return tlc(folder, "Asked", None, "-deadlock")


def _modules(question: Question, at: int) -> Asked:
    chosen = tuple(each for each in question.kernel.properties if each.name == question.property)
    kernel = replace(question.kernel, properties=chosen)
    module = export(kernel, f"S{at}")
    assert question.property in module.formulas, module.warnings
    if question.run is None:
        return Asked(question, module, module)
    return Asked(question, module, export(_as_system(kernel, question.run), f"R{at}"))


POSITION = "position_in_run"


def _as_system(kernel: k.Kernel, trace: Trace) -> k.Kernel:
    """A system that goes through the states of a run and nothing else."""
    run = Run(Model(kernel), trace)
    places = t.RangeType(0, len(run.states) - 1)
    here = k.StateVar(places, POSITION)
    names = [variable.name for variable in kernel.variables]
    types = [variable.type for variable in kernel.variables]

    def assigned(at: int) -> tuple[k.Statement, ...]:
        values = zip(names, types, run.states[at], strict=True)
        own = [k.Assign(f"to {name}", name, (), k.Const(of, value), of) for name, of, value in values]
        return (*own, k.Assign("to position", POSITION, (), k.Const(places, at), places))

    steps = []
    for at in range(len(run.states)):
        guard = k.Guard("when", "here", k.Equal(t.BOOL, here, k.Const(places, at), False))
        steps.append(k.Action(f"from {at}", (), (guard, *assigned(run.after(at))), None, None))
    return replace(
        kernel,
        variables=(*kernel.variables, k.Variable(POSITION, places, ghost=False)),
        init=k.Init(assigned(0), ()),
        actions=tuple(steps),
        next=tuple(step.name for step in steps),
        properties=(),
        terminal=(),
    )


def _configuration(asked: Sequence[Asked]) -> Iterator[str]:
    yield from ("SPECIFICATION Spec", "PROPERTY Steps")
    yield from (f"PROPERTY Claim{at}" for at in range(len(asked)))
    yield from (f"CONSTANT {name} = {name}" for name in elements([each.kernel for each in asked]))


def _joined(asked: Sequence[Asked]) -> Iterator[str]:
    modules = [each.system for each in asked]
    constants = elements([each.kernel for each in asked])
    variables = sorted({name for module in modules for name in module.variables})
    everything = f"<<which, {', '.join(variables)}>>"
    yield from ("---- MODULE Asked ----", "EXTENDS Integers")
    if constants:
        yield f"CONSTANTS {', '.join(constants)}"
    yield f"VARIABLES which, {', '.join(variables)}"
    for at, each in enumerate(asked):
        yield instance(at, each.kernel)
        if each.system is not each.kernel:
            yield (
                instance(at, each.kernel)
                .replace(f"S{at} ==", f"R{at} ==")
                .replace(f"INSTANCE S{at}", f"INSTANCE R{at}")
            )
    others = [[name for name in variables if name not in module.variables] for module in modules]
    yield "Init =="
    for at, rest in enumerate(others):
        yield f"    \\/ which = {at} /\\ {modules[at].name}!Init" + "".join(f" /\\ {name} = 0" for name in rest)
    yield "Next =="
    for at, rest in enumerate(others):
        yield f"    \\/ which = {at} /\\ {modules[at].name}!Next /\\ UNCHANGED <<{', '.join(['which', *rest])}>>"
    yield f"Spec == Init /\\ [][Next]_{everything}"
    yield "Step == CASE "
    for at in range(len(asked)):
        yield f"    {'[]' if at else '  '} which = {at} -> S{at}!Next \\/ S{at}!vars' = S{at}!vars"
    yield f"Steps == [][Step]_{everything}"
    for at, each in enumerate(asked):
        yield from _claim(at, each)
    yield "===="


def _claim(at: int, each: Asked) -> Iterator[str]:
    text = each.kernel.files[f"S{at}.tla"]
    fair = [f"S{at}!Fairness"] if "\nFairness ==" in text else []
    formula = f"S{at}!{each.kernel.formulas[each.question.property]}"
    premises, conclusions = [f"which = {at}"], [formula]
    if each.question.run is None:
        premises += fair
    else:
        premises.append(f"WF_<<{', '.join(each.system.variables)}>>(R{at}!Next)")
        conclusions = [f"S{at}!Init", *fair, f"~{formula}"]
    left, right = (" /\\ ".join(parts) for parts in (premises, conclusions))
    yield f"Claim{at} == ({left}) => ({right})"
