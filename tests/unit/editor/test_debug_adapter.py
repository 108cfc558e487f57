"""The debug adapter, asked as an editor asks it: breakpoints in counterexamples, steps forth and back, the state as variables."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.api.spec import load
from assay.editor.debug_adapter import serve

SPEC = """module lease
param Client: set = {a, b}
state:
    holder: Client? = none
    grants: map[Client, 0 .. 3] = [c -> 0]

action acquire(c: Client):
    when free: holder == none
    holder := c
    grants[c] := grants[c] + 1

action release(c: Client):
    when holds: holder == c
    holder := none

invariant twice_at_most: grants[a] < 2
"""


def message(command: str, **arguments: Any) -> bytes:
    text = json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)


def messages(data: bytes) -> list[dict[str, Any]]:
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.partition(b":")[2])
        found.append(json.loads(rest[:length]))
        data = rest[length:]
    return found


def asked(*requests: bytes) -> list[dict[str, Any]]:
    """What the adapter says to these requests, from first to last."""
    write = io.BytesIO()
    serve(io.BytesIO(b"".join(requests)), write)
    return messages(write.getvalue())


def bodies(said: list[dict[str, Any]], command: str) -> list[Any]:
    return [each["body"] for each in said if each.get("command") == command and each["success"]]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "lease.assay"
    path.write_text(SPEC)
    return path


@pytest.fixture
def trace(spec: Path) -> Path:
    """The run to the violated invariant."""
    stepper = load(str(spec)).stepper()
    stepper.begin()
    for call in ("acquire(a)", "release(a)", "acquire(a)"):
        stepper.take(stepper.find_call(call))
    path = spec.with_name("bug.json")
    stepper.save(path)
    return path


def test_a_counterexample_stops_at_the_action_and_where_the_property_becomes_false(spec: Path, trace: Path) -> None:
    source = {"path": str(spec)}
    said = asked(
        message("initialize"),
        message("launch", trace=str(trace)),
        message("setBreakpoints", source=source, breakpoints=[{"line": 14}, {"line": 16}, {"line": 2}]),
        message("configurationDone"),
        message("continue", threadId=1),
        message("continue", threadId=1),
        message("stackTrace", threadId=1),
        message("evaluate", expression="grants[a]", frameId=3),
        message("evaluate", expression="grants[a]", frameId=1),
        message("continue", threadId=1),
        message("disconnect"),
    )
    (placed,) = bodies(said, "setBreakpoints")
    assert [each["verified"] for each in placed["breakpoints"]] == [True, True, False]
    stops = [each["body"]["text"] for each in said if each.get("event") == "stopped"]
    assert stops == ["", "release", "twice_at_most", "the run ends here"]
    (frames,) = bodies(said, "stackTrace")
    assert [each["name"] for each in frames["stackFrames"]] == [
        "acquire(a)",
        "release(a)",
        "acquire(a)",
        "initial state",
    ]
    assert (frames["stackFrames"][0]["line"], frames["stackFrames"][0]["source"]["path"]) == (7, str(spec))
    assert [each["result"] for each in bodies(said, "evaluate")] == ["2", "1"]


def test_a_property_that_stays_false_stops_once_in_each_direction(spec: Path) -> None:
    stepper = load(str(spec)).stepper()
    stepper.begin()
    for call in ("acquire(a)", "release(a)", "acquire(a)", "release(a)", "acquire(b)"):
        stepper.take(stepper.find_call(call))
    stepper.save(spec.with_name("long.json"))
    said = asked(
        message("launch", trace=str(spec.with_name("long.json"))),
        message("setFunctionBreakpoints", breakpoints=[{"name": "twice_at_most"}]),
        *(message("continue") for _ in range(2)),
        *(message("reverseContinue") for _ in range(2)),
        message("disconnect"),
    )
    stops = [each["body"]["text"] for each in said if each.get("event") == "stopped"]
    assert stops == ["twice_at_most", "the run ends here", "twice_at_most", "the run begins here"]


def test_the_state_is_a_tree_and_steps_go_back(trace: Path) -> None:
    said = asked(
        message("launch", trace=str(trace)),
        message("configurationDone"),
        message("next", threadId=1),
        message("scopes", frameId=1),
        *(message("variables", variablesReference=number) for number in (1, 2, 4, 5)),
        message("stepBack", threadId=1),
        message("stackTrace", threadId=1),
    )
    (scopes,) = bodies(said, "scopes")
    assert [each["name"] for each in scopes["scopes"]] == ["changed by the step", "state", "properties"]
    changed, state, of_change, of_state = (each["variables"] for each in bodies(said, "variables"))
    assert [(each["name"], each["value"]) for each in changed] == [("holder", "none -> a"), ("grants", "")]
    assert [(each["name"], each["value"]) for each in state] == [("holder", "a"), ("grants", "")]
    assert [(each["name"], each["value"]) for each in of_change] == [("[a]", "0 -> 1")]
    assert [(each["name"], each["value"]) for each in of_state] == [("[a]", "1"), ("[b]", "0")]
    assert bodies(said, "stackTrace")[0]["totalFrames"] == 1


def test_a_spec_is_walked_by_choosing_steps(spec: Path) -> None:
    said = asked(
        message("launch", program=str(spec)),
        message("configurationDone"),
        message("stepIn", threadId=1),
        message("stepInTargets", frameId=0),
        message("stepIn", threadId=1, targetId=1),
        message("stackTrace", threadId=1),
    )
    assert "2 steps are possible" in next(each["message"] for each in said if each.get("success") is False)
    assert [each["label"] for each in bodies(said, "stepInTargets")[0]["targets"]] == ["acquire(a)", "acquire(b)"]
    assert bodies(said, "stackTrace")[0]["stackFrames"][0]["name"] == "acquire(b)"


def test_a_step_that_was_offered_in_another_state_is_not_taken(spec: Path) -> None:
    said = asked(
        message("launch", program=str(spec)),
        message("configurationDone"),
        message("stepInTargets", frameId=0),
        message("stepIn", threadId=1, targetId=1),
        message("stepIn", threadId=1, targetId=1),
        message("stackTrace", threadId=1),
    )
    assert [each["success"] for each in said if each.get("command") == "stepIn"] == [True, False]
    frames = bodies(said, "stackTrace")[0]["stackFrames"]
    assert [each["name"] for each in frames] == ["acquire(b)", "initial state"]


@pytest.mark.parametrize("number", [0, -1, float("inf"), float("nan")])
def test_a_number_of_nothing_is_refused(spec: Path, number: float) -> None:
    said = asked(
        message("launch", program=str(spec)),
        message("scopes", frameId=0),
        message("variables", variablesReference=number),
        message("stackTrace", startFrame=float("inf")),
    )
    assert [each["success"] for each in said if each["type"] == "response"] == [True, True, False, False]


def test_logs_may_be_one_text(spec: Path) -> None:
    said = asked(message("launch", program=str(spec), logs=str(spec.with_name("no.log"))))
    assert "there is no file or directory" in said[0]["message"]
    assert "no.log" in said[0]["message"]


def test_nonsense_is_answered(spec: Path) -> None:
    broken = spec.with_name("broken.assay")
    broken.write_text("state:\n    x: boo = 1\n")
    said = asked(
        message("next"),
        message("fly"),
        b"Content-Length: 3\r\n\r\n[1]",
        message("launch"),
        message("launch", program=str(broken)),
        message("launch", program=str(spec)),
        message("scopes"),
        message("variables", variablesReference=77),
        message("evaluate", expression="holer"),
        b"Content-Length: x\r\n\r\n",
    )
    failed = [each["message"] for each in said if each.get("success") is False]
    assert len(failed) == 8
    assert failed[0] == "nothing is launched"
    assert "E101" in failed[4]
    assert "did you mean `holder`" in failed[7]


@pytest.mark.slow
def test_the_command_walks_the_log_of_a_cluster(checkout: Path) -> None:
    sample = str(checkout / "traces" / "samples" / "elections.tar.xz")
    requests = [
        message("initialize"),
        message("launch", logs=[sample]),
        message("setFunctionBreakpoints", breakpoints=[{"name": "controller.elect"}, {"name": "nobody"}]),
        message("configurationDone"),
        message("continue"),
        message("stackTrace"),
        message("disconnect"),
    ]
    program = [sys.executable, "-m", "assay", "dap"]
    done = subprocess.run(program, input=b"".join(requests), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    said = messages(done.stdout)
    (placed,) = bodies(said, "setFunctionBreakpoints")
    assert placed["breakpoints"][1] == {"verified": False}
    (frames,) = bodies(said, "stackTrace")
    assert frames["totalFrames"] > 1
    assert all("(" in each["name"] for each in frames["stackFrames"][:-1]), "what only observes is no step"
