"""Logs of Redis Sentinel 7 against `systems/redis_sentinel`: a split vote, in which two sentinels tried at once."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.checker.report import ExitCode
from assay.cli.main import invoke
from assay.traces.result import TraceVerdict

SPEC = "systems/redis_sentinel"
IDS = {
    "a": "35b053ca20a1304d41c557c4685a139720960395",
    "b": "8fefe949f86f860b51b2fe5d9a1909f0949e086b",
    "c": "5747e4e0941a1c0a86b6d3219bbbacca7cdd7794",
}
LOGS = {
    "a": """10.715 # Sentinel ID is {a}
12.759 * +sentinel sentinel {b} 127.0.0.1 7202 @ mymaster 127.0.0.1 7101
15.827 # +new-epoch 1
15.871 # +vote-for-leader {b} 1
16.159 # +config-update-from sentinel {b} 127.0.0.1 7202 @ mymaster 127.0.0.1 7101
16.159 # +switch-master mymaster 127.0.0.1 7101 127.0.0.1 7103
""",
    "b": """10.671 # Sentinel ID is {b}
15.723 # +odown master mymaster 127.0.0.1 7101 #quorum 3/2
15.723 # +new-epoch 1
15.723 # +try-failover master mymaster 127.0.0.1 7101
15.775 # +vote-for-leader {b} 1
15.803 # {c} voted for {c} 1
15.871 # {a} voted for {b} 1
15.938 # +elected-leader master mymaster 127.0.0.1 7101
16.135 # +promoted-slave slave 127.0.0.1:7103 127.0.0.1 7103 @ mymaster 127.0.0.1 7101
21.131 # +switch-master mymaster 127.0.0.1 7101 127.0.0.1 7103
""",
    "c": """10.671 # Sentinel ID is {c}
15.751 # +new-epoch 1
15.751 # +try-failover master mymaster 127.0.0.1 7101
15.794 # +vote-for-leader {c} 1
15.803 # {b} voted for {b} 1
15.871 # {a} voted for {b} 1
16.151 # +switch-master mymaster 127.0.0.1 7101 127.0.0.1 7103
""",
}


def answer(folder: Path, **edits: tuple[str, str]) -> assay.LogAnswer:
    for node, text in LOGS.items():
        old, new = (each.format(**IDS) for each in edits.get(node, ("", "")))
        own = text.format(**IDS)
        assert old in own
        lines = (f"9285:X 26 Nov 2026 05:19:{line}\n" for line in own.replace(old, new).splitlines())
        (folder / node).mkdir()
        (folder / node / "sentinel.log").write_text("".join(lines), encoding="utf-8")
    return assay.validate(str(folder), SPEC)


def test_a_failover_after_a_split_vote_is_consistent(tmp_path: Path) -> None:
    found = answer(tmp_path)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.validation.counts.used == 20


@pytest.mark.parametrize(
    ("node", "old", "new"),
    [
        pytest.param("a", "+vote-for-leader {b} 1", "+vote-for-leader {c} 1", id="another vote than its peers saw"),
        pytest.param("b", "15.871 # {a} voted for {b} 1\n", "", id="elected before a majority voted"),
        pytest.param("c", "+new-epoch 1", "+new-epoch 2", id="a vote in an epoch that is over"),
        pytest.param("a", "7101 127.0.0.1 7103\n", "7101 127.0.0.1 7102\n", id="a switch to what was not promoted"),
        pytest.param("c", "15.751 # +try", "15.751 # +elected-leader master m\n15.751 # +try", id="elected untried"),
    ],
)
def test_what_sentinels_may_not_do_is_found(tmp_path: Path, node: str, old: str, new: str) -> None:
    others = {"a": ("15.871 # +vote-for-leader {b} 1\n", ""), "c": (old, "")} if not new else {}
    found = answer(tmp_path, **others, **{node: (old, new)})
    assert found.verdict is TraceVerdict.INCONSISTENT


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["OneVote=false", "Majority=false"])
def test_each_safeguard_is_needed(setting: str) -> None:
    assert invoke(["check", SPEC, "--property", "one_leader", "--set", setting]) == ExitCode.VIOLATED


@pytest.mark.slow
def test_the_spec_keeps_its_properties() -> None:
    assert invoke(["check", SPEC]) == ExitCode.OK
