"""What happens some time in the bundled systems, and only because some action is fair."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.api.bundled import locate_spec
from assay.checker.report import ExitCode
from assay.cli.main import invoke

CASES = [
    ("redis_sentinel", "switch(s: Sentinel, to: Address)", "fair", [], ExitCode.OK),
    ("etcd_server", "win(s: Server)", "fair", [], ExitCode.UP_TO_BOUND),
    ("etcd_raft", "become_leader(n: Server)", "fair", ["--model", "two_servers"], ExitCode.UP_TO_BOUND),
    ("zookeeper", "lead(s: Server)", "fair per s", ["--model", "two_servers"], ExitCode.OK),
    ("zookeeper", "follow(s: Server, l: Server)", "fair per s", ["--model", "two_servers"], ExitCode.OK),
    ("patroni", "acquire(m: Member)", "fair", ["--model", "two_members"], ExitCode.OK),
]


@pytest.mark.parametrize(
    ("name", "action", "fairness", "model", "held"),
    [case if case[0] in ("zookeeper", "patroni") else pytest.param(*case, marks=pytest.mark.slow) for case in CASES],
    ids=[f"{name}-{action.partition('(')[0]}" for name, action, *_ in CASES],
)
def test_what_happens_some_time_needs_its_fairness(
    tmp_path: Path, name: str, action: str, fairness: str, model: list[str], held: ExitCode
) -> None:
    spec = Path(locate_spec(f"systems/{name}"))
    for patterns in spec.parent.glob(f"{name}.toml"):
        (tmp_path / patterns.name).write_text(patterns.read_text("utf-8"), "utf-8")
    text = spec.read_text("utf-8").replace(f"module systems.{name}", f"module {name}")
    assert f"action {action} {fairness}:" in text
    own = tmp_path / f"{name}.assay"
    for content, code in ((text, held), (text.replace(f"{action} {fairness}:", f"{action}:"), ExitCode.VIOLATED)):
        own.write_text(content, "utf-8")
        assert invoke(["check", str(own), *model]) == code
