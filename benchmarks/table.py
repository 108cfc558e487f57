"""All figures that the native engine is held to, one after the other: `python -m benchmarks table [FOLDER]`, some fifteen minutes on two cores.

The figures are: compiling all bundled specs; speed by model; two threads over one; the whole command, cold and warm.
Then memory at ten and a hundred million states, and a third of a billion permutations. Last come the published specs
beside TLC, and TLC on the exported and on the public module. FOLDER is a clone of
github.com/hachikuji/kafka-specification. If none is named, one is made for the time of the run; where that cannot be, a
line says so.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import compile as compiling
from benchmarks import native, specs, tlc
from benchmarks.native import Line

PUBLIC = "https://github.com/hachikuji/kafka-specification"
PATIENCE = 120
"""Seconds that making the clone may take."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of all measurements; raises ValueError where more than a folder is named."""
    if len(arguments) > 1:
        raise ValueError("one folder at most")
    yield from native.lines([*native.USUAL, "large"])
    yield from compiling.lines([])
    yield from specs.lines([])
    if arguments:
        yield from tlc.lines(arguments)
        return
    with TemporaryDirectory() as folder:
        problem = _clone(Path(folder))
        yield from tlc.lines([] if problem else [folder])
    if problem:
        yield {"benchmark": "tlc", "module": "public", "skipped": problem}


def _clone(folder: Path) -> str | None:
    """Why there is no clone, if there is none."""
    try:
        subprocess.run(
            ["git", "clone", "--depth", "1", PUBLIC, str(folder)], check=True, capture_output=True, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{PUBLIC} could not be fetched: {error}"
    return None
