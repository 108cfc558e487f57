"""Runs as pictures: a page that needs nothing else, in which no text is markup, and diagrams in text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.chromium import browser

from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import Trace
from assay.cli.main import invoke
from assay.report.specs.picture.participants import role_of
from assay.report.specs.picture.sequence_diagram import sequence_diagram
from assay.stepper import open_spec

PIPE = """\
module pipe
param Node: set = {a, b, c, d, e}
size param Most: int = 100
record Packet: to: Node, number: 0 .. Most
state:
    sent: 0 .. Most = 0
    pipe: set[Packet, max 3] = {}
    got: map[Node, 0 .. Most] = [n -> 0]
action send(n: Node):
    when empty: count(pipe) == 0
    sent := sent + 1
    pipe := pipe + {Packet(n, sent + 1)}
action receive(n: Node, p: 0 .. Most):
    when there: Packet(n, p) in pipe
    pipe := pipe - {Packet(n, p)}
    got[n] := p
invariant low: forall n in Node: got[n] < 50
"""


@pytest.fixture
def pictured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command that writes a page; returns its data and its text."""

    def run(*arguments: str, code: int = 1) -> tuple[Any, str]:
        page = tmp_path / "page.html"
        assert invoke([*arguments, "--html", str(page)]) == code
        capsys.readouterr()
        text = page.read_text(encoding="utf-8")
        found = re.search(r'id="data">(.*?)</script>', text)
        assert found
        return json.loads(found[1]), text

    return run


def test_the_page_of_a_check_shows_lanes_messages_reason_and_the_spec(pictured: Any) -> None:
    data, text = pictured("check", "classics/two_phase", "--set", "WaitForAll=false", "--property", "consistent")
    steps = data["run"]["steps"]
    assert [step["text"] for step in steps][1:] == ["decide_commit", "choose_to_abort(r1)", "obey_commit(r2)"]
    assert [step["lane"] for step in steps][1:] == ["shared", "r1", "r2"]
    assert steps[1]["sent"] == steps[3]["received"] == [["messages", "Commit"]]
    assert data["reason"]["with"] == [["a", "r1"], ["b", "r2"]]
    assert "src=" not in text
    assert not re.search(r"https?://(?!www\.w3\.org)", text.partition("<main>")[0])
    line = next(row for row in re.findall(r"<tr class=.*?</tr>", text) if "action choose_to_abort" in row)
    assert "step 3" in line


def test_the_changes_of_all_steps_lead_to_the_last_state(pictured: Any) -> None:
    data, _ = pictured("check", "classics/two_phase", "--set", "WaitForAll=false", "--property", "consistent")
    cells: dict[str, str] = {}
    for step in data["run"]["steps"]:
        for place, value in step["cells"]:
            name = "".join(data["run"]["places"][place])
            if value is None:
                del cells[name]
            else:
                cells[name] = value
    assert cells == {
        "vote[r1]": "Aborted",
        "vote[r2]": "Committed",
        "vote[r3]": "Working",
        "decided": "true",
        "prepared": "{}",
        "messagesCommit": "",
    }


def test_a_small_model_is_drawn_whole_and_its_guards_are_coloured(pictured: Any) -> None:
    data, text = pictured("check", "classics/die_hard", code=0)
    assert data["run"] is None
    assert len(data["graph"]["states"]) == 16
    assert data["graph"]["states"][0]["text"] == "small = 0\nbig = 0"
    assert "16 times" in text
    _, text = pictured("check", "classics/two_phase", "--set", "ResourceManager=2", code=0)
    row = next(each for each in re.findall(r"<tr class=.*?</tr>", text) if "    when everybody" in each)
    assert 'class="h3"' in row
    assert "decides" in row


def test_a_lasso_and_a_replay_are_pages_too(pictured: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = "module m\nstate:\n    x: bool = false\naction flip:\n    x := not x\nproperty stays: eventually always x\n"
    (tmp_path / "m.assay").write_text(spec)
    data, _ = pictured("check", "m.assay", "--trace-out", "t.json")
    assert isinstance(data["run"]["loop"], int)
    again, text = pictured("replay", "t.json")
    assert again["run"]["loop"] == data["run"]["loop"]
    assert "still violated" in text


def test_a_hundred_steps_of_five_actors_are_a_page_of_less_than_500_kb(pictured: Any, tmp_path: Path) -> None:
    (tmp_path / "pipe.assay").write_text(PIPE)
    run = ["simulate", str(tmp_path / "pipe.assay"), "--depth", "120", "--walks", "3", "--property", "low"]
    data, text = pictured(*run)
    assert len(data["run"]["steps"]) > 90
    assert len(text.encode()) < 500_000


def test_no_text_is_markup(pictured: Any, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>\u2028"
    spec = f'module m\nstate:\n    x: bool = false  # {hostile}\naction up:\n    "{hostile}"\n    x := true\ninvariant i: not x\n'
    (tmp_path / "m.assay").write_text(spec)
    _, text = pictured("check", str(tmp_path / "m.assay"))
    assert "<img" not in text
    assert text.count("</script>") == 2


def walked(spec: str, *calls: str) -> tuple[Model, Trace]:
    stepper = open_spec(spec)
    stepper.begin()
    for call in calls:
        stepper.take(stepper.find_call(call))
    return stepper.model, stepper.trace


def test_a_run_is_a_sequence_diagram_in_two_languages() -> None:
    model, trace = walked("classics/two_phase", "prepare(r2)", "receive_ready(r2)")
    mermaid = sequence_diagram(model, trace, "mermaid", "t").splitlines()
    assert mermaid[0] == "sequenceDiagram"
    assert "  L1-->>L3: Ready(r2)" in mermaid
    plantuml = sequence_diagram(model, trace, "plantuml", "t").splitlines()
    assert (plantuml[0], plantuml[-1]) == ("@startuml", "@enduml")
    assert "L1 --> L3 : Ready(r2)" in plantuml


def test_a_step_that_changes_nothing_has_a_lane_though_no_variable_has_an_entry_for_it(tmp_path: Path) -> None:
    spec = "module m\nparam Client: set = {a, b}\nstate:\n    x: bool = false\naction ping(c: Client):\n    x := x\n"
    (tmp_path / "m.assay").write_text(spec)
    model, trace = walked(str(tmp_path / "m.assay"), "ping(b)")
    assert "  participant L0 as b" in sequence_diagram(model, trace, "mermaid", "t").splitlines()


ALL_AT_ONCE = """\
module all
param Node: set = {a, b, c, d, e, f, g, h}
state:
    on: map[Node, bool] = [n -> false]
action tick:
    on := [n -> true]
"""


def test_of_several_elements_that_a_step_does_not_name_the_first_acts(tmp_path: Path) -> None:
    (tmp_path / "all.assay").write_text(ALL_AT_ONCE)
    model, trace = walked(str(tmp_path / "all.assay"), "tick")
    assert role_of(model, trace.steps[0].state, trace.steps[1]).lane == "a"


def test_who_sends_is_who_the_guards_ask_for() -> None:
    model, trace = walked("systems/etcd_raft", "campaign(s2)", "ask(s2, s3, 0, 0)")
    role = role_of(model, trace.steps[1].state, trace.steps[2])
    assert (role.lane, role.group, role.others) == ("s2", "Server", ("s3",))
    model, trace = walked("classics/two_phase", "prepare(r1)", "receive_ready(r1)")
    assert role_of(model, trace.steps[1].state, trace.steps[2]).lane == "shared"


def test_the_name_of_a_diagram_says_its_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["check", "classics/two_phase", "--set", "WaitForAll=false", "--property", "consistent", "--diagram"]
    assert invoke([*check, str(tmp_path / "run.md")]) == 1
    assert (tmp_path / "run.md").read_text().startswith("```mermaid\nsequenceDiagram\n")
    assert invoke([*check, str(tmp_path / "run.txt")]) == 2
    assert "ends in none of .mmd" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.browser
def test_in_a_browser_the_last_state_and_the_reason_are_shown(pictured: Any, tmp_path: Path) -> None:
    pictured("check", "classics/two_phase", "--set", "WaitForAll=false", "--property", "consistent")
    with browser(tmp_path) as tab:
        tab.open((tmp_path / "page.html").as_uri())
        tab.wait("document.querySelector('#here') && document.querySelector('#here').innerText.startsWith('4 of 4')")
        assert "a = r1, b = r2" in tab.text("#why")
        tab.click("#previous")
        tab.wait("document.querySelector('#here').innerText === '3 of 4: choose_to_abort(r1)'")
        assert "vote[r1]: Working -> Aborted" in tab.text("#changes")
        assert not tab.errors
