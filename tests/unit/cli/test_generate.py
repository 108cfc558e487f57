"""``assay generate tests``: the file that it writes is a test that passes for right code and finds a mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run

from assay.testing import DepartureError, Refused, follow

LEASE = """module lease
param Client: set = {a, b}
state:
    holder: Client? = none
action acquire(c: Client):
    when free: holder == none
    holder := c
action release(c: Client):
    when holds: holder == c
    holder := none
action expire:
    when taken: holder != none
    when never: false
    holder := none
"""


class Lease:
    """A lease; ``broken`` lets anybody release it."""

    refuses = frozenset({"acquire", "release"})
    broken = False

    def __init__(self) -> None:
        self.holder: str | None = None

    def acquire(self, c: str) -> None:
        if self.holder is not None:
            raise Refused
        self.holder = c

    def release(self, c: str) -> None:
        if self.holder is None or (self.holder != c and not self.broken):
            raise Refused
        self.holder = None


class Broken(Lease):
    broken = True


def test_the_file_for_pytest_finds_the_mistake_and_says_what_it_could_not_follow(tmp_path: Path, assay: Run) -> None:
    (tmp_path / "lease.assay").write_text(LEASE)
    out = tmp_path / "test_lease.py"
    done = assay("generate", "tests", "lease.assay", "--driver", "a.b:Lease", "--out", str(out))
    assert done.code == 0
    assert "no run of the model covers these (all 3 states were looked at): expire" in done.out
    text = out.read_text()
    assert "from a.b import Lease\n" in text
    names: dict[str, Any] = {"__file__": str(out)}
    exec(compile(text.replace("from a.b import Lease\n", ""), str(out), "exec"), names)
    assert [follow(names["SPEC"], Lease, run) for run in names["RUNS"].values()] == [None] * len(names["RUNS"])
    (telling,) = (run for run in names["RUNS"].values() if "release(b) is refused by holds" in run)
    with pytest.raises(DepartureError, match=r"release\(b\)"):
        follow(names["SPEC"], Broken, telling)
    assert follow(names["SPEC"], Lease, ["expire"]) == "step 1, expire: the driver has no method for it"


def test_the_runs_as_json_have_the_states(tmp_path: Path, assay: Run) -> None:
    (tmp_path / "lease.assay").write_text(LEASE)
    done = assay("generate", "tests", "lease.assay", "--to", "json", "--cover", "guards")
    steps = [step for run in done.json["runs"] for step in run["steps"]]
    assert {"action": "release", "arguments": {"c": "b"}, "refused": "holds"} in steps
    assert {"action": "acquire", "arguments": {"c": "a"}, "picks": {}, "state": {"holder": "a"}} in steps


def test_words_that_are_none_are_bad_input(assay: Run) -> None:
    assert (
        "`all` is none of actions, guards, pairs" in assay("generate", "tests", "counter.assay", "--cover", "all").err
    )
    for name in ("Lease", "class:Lease", "a.import:Lease"):
        ran = assay("generate", "tests", "counter.assay", "--driver", name)
        assert f"`{name}` does not have the form" in ran.err
    assert assay("generate").code == 2
