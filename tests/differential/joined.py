"""Many exported kernels searched in one run of TLC: joined in one module by a variable that says which one is meant."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.checker.tla.export_result import TlaExport
from assay.checker.tla.module import export
from assay.grammar import kernel as k

from .cuts import with_cuts
from .tlc import Answer, tlc


@dataclass
class Seen:
    """What TLC saw of a kernel: states by level, instances that were cut off by label, and which properties were false somewhere.

    Steps that change nothing satisfy every property of steps, as in TLA+. `dead` says whether some state had no step at all.
    """

    levels: Counter[int] = field(default_factory=Counter)
    bounds: Counter[str] = field(default_factory=Counter)
    false: set[str] = field(default_factory=set)
    dead: bool = False


def survey(kernels: Sequence[k.Kernel], folder: Path) -> tuple[list[Seen], Answer]:
    """Search all kernels in one run, in which every state, every step and every cut is printed."""
    modules = [export(kernel, f"S{at}") for at, kernel in enumerate(kernels)]
    for at, (kernel, module) in enumerate(zip(kernels, modules, strict=True)):
        text = with_cuts(module.files[f"S{at}.tla"], kernel, at)
        (folder / f"S{at}.tla").write_text(text, encoding="utf-8")
    (folder / "Joined.tla").write_text("\n".join(_joined(modules)), encoding="utf-8")
    (folder / "Joined.cfg").write_text("\n".join(_configuration(modules)), encoding="utf-8")
    answer = tlc(folder, "Joined", None, "-deadlock")
    return _read(modules, answer.output), answer


def elements(modules: Sequence[TlaExport]) -> list[str]:
    """The constants of the modules that stand for themselves: elements of their sets, and `none`."""
    named = {
        name for module in modules for line in module.constants for name in re.findall(r"\w+", line.split(" = ")[1])
    }
    return sorted(named)


def _configuration(modules: Sequence[TlaExport]) -> Iterator[str]:
    yield from ("SPECIFICATION Spec", "INVARIANT State", "ACTION_CONSTRAINT Step", "CONSTRAINT Typed")
    yield from (f"CONSTANT {name} = {name}" for name in elements(modules))


def instance(module: TlaExport, variables: Iterable[str] = ()) -> str:
    """The module with its own sets, which in others may have the same names and other elements. Of its variables some
    have other names (``_variable``) in the module that joins it.
    """
    sets = [line.replace(" = ", " <- ") for line in module.constants]
    bound = ", ".join([*sets, *(f"{name} <- {_variable(name)}" for name in variables)])
    return f"{module.name} == INSTANCE {module.name}" + (f" WITH {bound}" if bound else "")


def _variable(name: str) -> str:
    """A module's variable in the joined one, where an element of another module may have its name."""
    return f"{name}_"


def _joined(modules: Sequence[TlaExport]) -> Iterator[str]:
    constants = elements(modules)
    variables = sorted({_variable(name) for module in modules for name in module.variables})
    yield from ("---- MODULE Joined ----", "EXTENDS Integers, TLC")
    if constants:
        yield f"CONSTANTS {', '.join(constants)}"
    yield f"VARIABLES which, {', '.join(variables)}"
    yield from (instance(module, module.variables) for module in modules)
    own = [set(map(_variable, module.variables)) for module in modules]
    others = [[name for name in variables if name not in each] for each in own]
    yield "Init =="
    for at, rest in enumerate(others):
        yield f"    \\/ which = {at} /\\ S{at}!Init" + "".join(f" /\\ {name} = 0" for name in rest)
    yield "Next =="
    for at, rest in enumerate(others):
        yield f"    \\/ which = {at} /\\ S{at}!Next /\\ UNCHANGED <<{', '.join(['which', *rest])}>>"
        yield f"    \\/ which = {at} /\\ S{at}!Cuts"
    yield f"Spec == Init /\\ [][Next]_<<which, {', '.join(variables)}>>"
    # What is out of range is not followed: it might grow for ever.
    yield from _cases("Typed", (f"S{at}!TypeOK" for at in range(len(modules))))
    yield from _cases("State", (f"PrintT(<<{_state_report(at, module)}>>)" for at, module in enumerate(modules)))
    yield from _cases("Step", (f"PrintT(<<{_step_report(at, module)}>>)" for at, module in enumerate(modules)))
    yield "===="


def _cases(name: str, answers: Iterator[str]) -> Iterator[str]:
    yield f"{name} == CASE "
    for at, answer in enumerate(answers):
        yield f"    {'[]' if at else '  '} which = {at} -> {answer}"


def _state_report(at: int, module: TlaExport) -> str:
    values = [f"S{at}!{name}" for name in _of_states(module).values()]
    return ", ".join(['"state"', str(at), 'TLCGet("level")', f"ENABLED S{at}!Next", *values])


def _step_report(at: int, module: TlaExport) -> str:
    return ", ".join(['"step"', str(at), f"S{at}!vars' = S{at}!vars", *(f"S{at}!{n}" for n in module.steps.values())])


def _of_states(module: TlaExport) -> dict[str, str]:
    return {**module.invariants, **module.witnesses, "TypeOK": "TypeOK"}


def _read(modules: Sequence[TlaExport], output: str) -> list[Seen]:
    found: defaultdict[int, Seen] = defaultdict(Seen)
    for line in re.sub(r",\s*\n\s*", ", ", output).splitlines():
        if not line.startswith(('<<"state"', '<<"step"', '<<"cut"')):
            continue
        kind, at, *values = line.strip("<>").split(", ")
        module, seen = modules[int(at)], found[int(at)]
        if kind == '"cut"':
            seen.bounds[values[0].strip('"')] += 1
        elif kind == '"state"':
            seen.levels[int(values[0]) + 1] += 1
            seen.dead |= values[1] == "FALSE"
            seen.false |= {name for name, value in zip(_of_states(module), values[2:], strict=True) if value == "FALSE"}
        elif values[0] == "FALSE":
            seen.false |= {name for name, value in zip(module.steps, values[1:], strict=True) if value == "FALSE"}
    return [found[at] for at in range(len(modules))]
