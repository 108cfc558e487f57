"""What happens some time in the bundled systems, and only because some action is fair."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.api.bundled import locate_spec
from assay.checker.report import ExitCode
from assay.cli.main import invoke


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "action", "held"),
    [
        ("redis_sentinel", "switch(s: Sentinel, to: Address)", ExitCode.OK),
        ("etcd_server", "win(s: Server)", ExitCode.UP_TO_BOUND),
    ],
)
def test_what_happens_some_time_needs_its_fairness(tmp_path: Path, name: str, action: str, held: ExitCode) -> None:
    spec = Path(locate_spec(f"systems/{name}"))
    (tmp_path / f"{name}.toml").write_text(spec.with_suffix(".toml").read_text("utf-8"), "utf-8")
    text = spec.read_text("utf-8").replace(f"module systems.{name}", f"module {name}")
    assert f"action {action} fair:" in text
    own = tmp_path / f"{name}.assay"
    for content, code in ((text, held), (text.replace(f"{action} fair:", f"{action}:"), ExitCode.VIOLATED)):
        own.write_text(content, "utf-8")
        assert invoke(["check", str(own)]) == code
