"""The fixture ``conformance``: what a test recorded has to conform to a spec."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SPEC = """module lease
param Client: set = {a, b}
state:
    holder: Client? = none
action acquire(c: Client):
    when free: holder == none
    holder := c
action release(c: Client):
    when holds: holder == c
    holder := none
trace service:
    from events
    on Acquired(client: Client): acquire(client)
    on Released(client: Client): release(client)
    order: file
"""
TESTS = """
import asyncio, os
import assay, pytest

def test_conforms(conformance):
    with conformance("lease.assay") as log:
        log.record("Acquired", client="anna")
        log.record("Released", client="anna")

def test_breaks_a_rule(conformance):
    with conformance("lease.assay") as log:
        log.record("Acquired", client="anna")
        log.record("Acquired", client="ben")

def test_records_nothing(conformance):
    with conformance("lease.assay"):
        pass

def test_another_process_breaks_it(conformance):
    with conformance("lease.assay") as log:
        log.record("Acquired", client="anna")
        child = os.fork()
        if child == 0:
            log.record("Acquired", client="ben")
            log.flush()
            os._exit(0)
        os.waitpid(child, 0)

def test_tasks(conformance):
    async def client(name, log, lock):
        async with lock:
            log.record("Acquired", client=name)
            await asyncio.sleep(0)
            log.record("Released", client=name)
    async def all_clients():
        lock = asyncio.Lock()
        with conformance("lease.assay", node="n1") as log:
            await asyncio.gather(client("anna", log, lock), client("ben", log, lock))
            log.of_node("n2").record("Acquired", client="cleo")
    asyncio.run(all_clients())

def test_an_error_of_its_own(conformance):
    with conformance("lease.assay") as log:
        raise ValueError("own error")

def test_wrong_spec(conformance):
    with pytest.raises(assay.InputError):
        with conformance("laese.assay"):
            pass
"""


@pytest.mark.slow
def test_a_test_fails_where_its_events_do_not_conform(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "lease.assay").write_text(SPEC, encoding="utf-8")
    (tmp_path / "tests" / "test_lease.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "assay.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-rA",
        "-W",
        "error",
    ]
    done = subprocess.run([*command, "tests"], cwd=tmp_path, capture_output=True, text=True, check=False)
    out = done.stdout
    verdicts: dict[str, str] = {}
    for line in out.splitlines():
        verdict, _, name = line.split(" - ")[0].partition(" ")
        if verdict in {"PASSED", "FAILED"}:
            verdicts[name] = verdict
    assert {name.partition("::")[2]: verdict for name, verdict in verdicts.items()} == {
        "test_conforms": "PASSED",
        "test_breaks_a_rule": "FAILED",
        "test_records_nothing": "FAILED",
        "test_another_process_breaks_it": "FAILED",
        "test_tasks": "PASSED",
        "test_an_error_of_its_own": "FAILED",
        "test_wrong_spec": "PASSED",
    }, out
    assert "events.jsonl:2" in out, "the line"
    assert "guard free is false: holder == none" in out, "the rule"
    assert "lease.assay:6" in out, "and its place"
    assert "own error" in out


def test_loading_the_plugin_imports_nothing_of_assay() -> None:
    seen = "import sys, assay.pytest_plugin; print(sorted(each for each in sys.modules if each.startswith('assay')))"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['assay', 'assay.pytest_plugin']"
