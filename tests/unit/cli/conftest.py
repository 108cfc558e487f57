"""The command line, run inside the test process: what it prints where, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import invoke

COUNTER = """\
module counter

size param Most: int = 3
param Step: int = 1
type Count = 0 .. 9

state:
    count: Count = 0

action grow:
    when small: count < 2 * Step + 1
    bound most: count < Most
    count := count + Step

action reset:
    when full: count == 3
    count := 0

invariant at_most_three: count <= 3
reachable two: count == 2

model double: Step = 2
"""


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output; fails if there is anything else."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def assay(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Runs a command in an empty directory that holds ``counter.assay``; all tests share what is compiled."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    (tmp_path / "counter.assay").write_text(COUNTER)

    def run(*arguments: str) -> Ran:
        code = invoke(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return run
