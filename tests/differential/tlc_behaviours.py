"""Temporal properties of many kernels asked of TLC in one run.

That a property holds TLC finds out by itself. That one is violated, TLC confirms for the run that assay shows. The run
is written as a system that can do nothing else. It begins and goes on as the kernel does, is fair, and does not satisfy
the property.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.lasso_semantics import Run
from assay.checker.report import Trace
from assay.checker.tla.export_result import TlaExport
from assay.checker.tla.module import export
from assay.checker.tla.temporal_monitors import TlaMonitor
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t

from .joined import elements, instance
from .tlc import Answer, tlc


@dataclass(frozen=True)
class Question:
    """A kernel, one of its properties, and the run that is said to violate it; None if it is said to hold.

    With ``foretell`` TLC is asked by auxiliary variables (docs/design/tla-temporal-monitors.md); else only where there is no other way.
    """

    kernel: k.Kernel
    property: str
    run: Trace | None
    foretell: bool = False


@dataclass(frozen=True)
class Asked:
    """A question as modules: of the kernel, of the system that is searched, and of the property if it has one of its own."""

    at: int
    question: Question
    kernel: TlaExport
    system: TlaExport
    watched: TlaMonitor | None

    @property
    def claim(self) -> str:
        """The name of the module in which the property is defined."""
        return f"S{self.at}_{self.question.property}" if self.watched else f"S{self.at}"

    @property
    def files(self) -> dict[str, str]:
        """The modules; that of the property also says what its variables are while another question is asked."""
        files = {**self.kernel.files, **self.system.files}
        found = {name: text for name, text in files.items() if name.endswith(".tla")}
        if self.watched:
            idle = [f"({name} = CHOOSE v \\in {values} : TRUE)" for name, values in self.watched.variables.items()]
            text = found[f"{self.claim}.tla"]
            found[f"{self.claim}.tla"] = text.replace("\nBegin ==", f"\nIdle == {_all(idle)}\n\nBegin ==")
        return found

    @property
    def own_variables(self) -> list[str]:
        """Those of the property, as they are called beside those of other properties."""
        return [f"{name}_{self.at}" for name in self.watched.variables] if self.watched else []

    @property
    def instances(self) -> Iterator[str]:
        yield instance(self.kernel)
        if self.system is not self.kernel:
            yield instance(self.system)
        if self.watched:
            bound = [line.replace(" = ", " <- ") for line in self.kernel.constants]
            bound += [f"{name} <- {name}_{self.at}" for name in self.watched.variables]
            yield f"{self.claim} == INSTANCE {self.claim} WITH {', '.join(bound)}"

    @property
    def begin(self) -> str:
        return f"{self.system.name}!Init" + (f" /\\ {self.claim}!Begin" if self.watched else "")

    @property
    def moment(self) -> str:
        """A step; of the kernel itself, where an occurrence is foretold, also one that changes nothing."""
        if self.watched and self.system is self.kernel:
            return f"{self.claim}!Moment"
        return f"{self.system.name}!Next" + (f" /\\ {self.claim}!Watch" if self.watched else "")


def ask(questions: Sequence[Question], folder: Path) -> Answer:
    """TLC's answer to all questions: complete if it agrees with all of them."""
    asked = [_modules(question, at) for at, question in enumerate(questions)]
    for name, text in (each for one in asked for each in one.files.items()):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "Asked.tla").write_text("\n".join(_joined(asked)), encoding="utf-8")
    (folder / "Asked.cfg").write_text("\n".join(_configuration(asked)), encoding="utf-8")
    return tlc(folder, "Asked", None, "-deadlock")


def _modules(question: Question, at: int) -> Asked:
    chosen = tuple(each for each in question.kernel.properties if each.name == question.property)
    kernel = replace(question.kernel, properties=chosen)
    module = export(kernel, f"S{at}", foretell=question.foretell)
    if (
        "[][" in module.files[f"S{at}.tla"].split("\nSpec == Init /\\ [][Next]")[1]
    ):  # TLC takes it as a property, and not inside a formula
        module = export(kernel, f"S{at}", foretell=True)
    assert question.property in {*module.formulas, *module.watched}, module.warnings
    system = module if question.run is None else export(_as_system(kernel, question.run), f"R{at}")
    return Asked(at, question, module, system, module.watched.get(question.property))


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
        fair_together=(),
        next=tuple(step.name for step in steps),
        properties=(),
        terminal=(),
    )


def _configuration(asked: Sequence[Asked]) -> Iterator[str]:
    yield from ("SPECIFICATION Spec", "PROPERTY Steps")
    yield from (f"PROPERTY Claim{at}" for at in range(len(asked)))
    yield from (f"CONSTANT {name} = {name}" for name in elements([each.kernel for each in asked]))


def _joined(asked: Sequence[Asked]) -> Iterator[str]:
    constants = elements([each.kernel for each in asked])
    systems = sorted({name for each in asked for name in each.system.variables})
    everything = f"<<which, {', '.join([*systems, *(name for each in asked for name in each.own_variables)])}>>"
    yield from ("---- MODULE Asked ----", "EXTENDS Integers")
    if constants:
        yield f"CONSTANTS {', '.join(constants)}"
    yield f"VARIABLES {everything.strip('<>')}"
    for each in asked:
        yield from each.instances
    yield "Init =="
    for each in asked:
        unused = [f"{name} = 0" for name in systems if name not in each.system.variables]
        idle = [f"{other.claim}!Idle" for other in asked if other.watched and other is not each]
        yield f"    \\/ {_all([f'which = {each.at}', each.begin, *unused, *idle])}"
    yield "Next =="
    for each in asked:
        kept = [name for name in systems if name not in each.system.variables]
        kept += [name for other in asked if other is not each for name in other.own_variables]
        yield f"    \\/ which = {each.at} /\\ {each.moment} /\\ UNCHANGED <<{', '.join(['which', *kept])}>>"
    yield f"Spec == Init /\\ [][Next]_{everything}"
    yield "Step == CASE "
    for at in range(len(asked)):
        yield f"    {'[]' if at else '  '} which = {at} -> S{at}!Next \\/ S{at}!vars' = S{at}!vars"
    yield f"Steps == [][Step]_{everything}"
    for each in asked:
        yield from _claim(each)
    yield "===="


def _claim(each: Asked) -> Iterator[str]:
    at = each.at
    fair = [f"S{at}!Fairness"] if "\nFairness ==" in each.kernel.files[f"S{at}.tla"] else []
    name = each.watched.formula if each.watched else each.kernel.formulas[each.question.property]
    premises, conclusions = [f"which = {at}"], [f"{each.claim}!{name}"]
    if each.question.run is None:
        premises += fair
    else:
        premises += [f"{each.claim}!Fulfilled"] if each.watched else []
        premises.append(f"WF_<<{', '.join(each.system.variables)}>>(R{at}!Next)")
        conclusions = [f"S{at}!Init", *fair, f"~{conclusions[0]}"]
    yield f"Claim{at} == ({_all(premises)}) => ({_all(conclusions)})"


def _all(formulas: Sequence[str]) -> str:
    return " /\\ ".join(formulas)
