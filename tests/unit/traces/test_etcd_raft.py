"""The state trace of etcd's raft library, as it is, against `systems/etcd_raft`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assay.checker.report import ExitCode
from assay.cli.main import invoke
from assay.grammar.load import Loaded, bundled_specs, load_spec
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import TraceVerdict, Validation
from assay.traces.scoped_validate import validate_in_scope

ALL = ["1", "2", "3"]


class Trace:
    """Lines as `state_trace.go` writes them."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.state: dict[str, dict[str, Any]] = {}

    def line(self, name: str, nid: str, *, prop: dict[str, Any] | None = None, **changes: Any) -> None:
        """A line with the state of a server, after some changes of it."""
        state = self.state.setdefault(
            nid, {"term": 0, "vote": "0", "commit": 0, "role": "StateFollower", "log": 0, "conf": []}
        )
        state |= {key: value for key, value in changes.items() if key != "msg"}
        event = {
            "name": name, "nid": nid, "state": {key: state[key] for key in ("term", "vote", "commit")},
            "role": state["role"], "log": state["log"], "conf": [state["conf"], []],
        }  # fmt: skip
        event |= {"msg": changes["msg"]} if "msg" in changes else {}
        event |= {"prop": prop} if prop is not None else {}
        self.lines.append(
            {"level": "debug", "ts": 1712329729.6 + len(self.lines) / 1000, "tag": "trace", "event": event}
        )

    def begin(self, nid: str) -> None:
        """A server starts with the entries of a cluster of three."""
        self.line("InitState", nid)
        self.line("ApplyConfChange", nid, prop={"cc": {}})
        self.line("BecomeFollower", nid)
        self.line("BecomeFollower", nid, term=1)
        for known in range(3):
            self.line(
                "ApplyConfChange", nid, commit=3, log=3, conf=ALL[:known], prop={"cc": {"newconf": ALL[: known + 1]}}
            )
        self.line("Ready", nid, conf=ALL)

    def elect(self) -> None:
        """Server 1 is elected by 2."""
        asked = message("MsgVote", "1", "2", logTerm=1, index=3)
        own, given = message("MsgVoteResp", "1", "1"), message("MsgVoteResp", "2", "1")
        self.line("BecomeCandidate", "1", term=2, vote="1", role="StateCandidate")
        self.line("SendRequestVoteRequest", "1", msg=asked)
        self.line("SendRequestVoteResponse", "1", msg=own)
        self.line("ReceiveRequestVoteResponse", "1", msg=own)
        self.line("ReceiveRequestVoteRequest", "2", msg=asked)
        self.line("BecomeFollower", "2", term=2)
        self.line("SendRequestVoteResponse", "2", msg=given)
        self.line("Ready", "2", vote="1")
        self.line("ReceiveRequestVoteResponse", "1", msg=given)
        self.line("BecomeLeader", "1", role="StateLeader")

    def replicate(self) -> None:
        """An entry is written, kept by 2, and committed."""
        sent = message("MsgApp", "1", "2", entries=1, logTerm=1, index=3, commit=3)
        own, kept = message("MsgAppResp", "1", "1", index=4), message("MsgAppResp", "2", "1", index=4)
        self.line("Replicate", "1")
        self.line("SendAppendEntriesResponse", "1", log=4, msg=own)
        self.line("SendAppendEntriesRequest", "1", msg=sent, prop={"match": 3, "next": 4})
        self.line("ReceiveAppendEntriesResponse", "1", msg=own)
        self.line("ReceiveAppendEntriesRequest", "2", msg=sent)
        self.line("SendAppendEntriesResponse", "2", log=4, msg=kept)
        self.line("ReceiveAppendEntriesResponse", "1", msg=kept)
        self.line("Commit", "1", commit=4)
        self.line("Ready", "1")


def message(kind: str, source: str, to: str, **more: Any) -> dict[str, Any]:
    """A message of term 2."""
    base = {"entries": 0, "logTerm": 0, "index": 0, "commit": 0, "vote": "0", "reject": False, "rejectHint": 0}
    return {"type": kind, "term": 2, "from": source, "to": to, **base, **more}


@cache
def spec() -> Loaded:
    return load_spec(bundled_specs()[0] / "systems" / "etcd_raft.assay")


def whole() -> list[dict[str, Any]]:
    trace = Trace()
    for nid in ALL:
        trace.begin(nid)
    trace.elect()
    trace.replicate()
    return trace.lines


def validated(folder: Path, lines: list[dict[str, Any]]) -> Validation:
    (folder / "trace.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    reading = read_logs([folder / "trace.ndjson"], ReadOptions(source=source_of(spec(), None)))
    return validate_in_scope(spec(), reading, DEFAULT_OPTIONS)


def test_a_trace_as_it_is_written_is_consistent(tmp_path: Path) -> None:
    answer = validated(tmp_path, whole())
    assert (answer.verdict, answer.counts.unmapped) == (TraceVerdict.CONSISTENT, 0)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        pytest.param("BecomeLeader", "state.term", 3, marks=pytest.mark.slow),
        ("Commit", "state.commit", 5),
        ("ReceiveAppendEntriesRequest", "msg.index", 2),
        pytest.param("SendAppendEntriesRequest", "prop.match", 4, marks=pytest.mark.slow),
        pytest.param("ReceiveRequestVoteResponse", "msg.reject", True, marks=pytest.mark.slow),
        pytest.param("SendRequestVoteRequest", "msg.vote", "3", marks=pytest.mark.slow),
    ],
)
def test_an_edited_line_is_blamed(tmp_path: Path, name: str, path: str, value: object) -> None:
    lines = whole()
    at = next(number for number, line in enumerate(lines) if line["event"]["name"] == name)
    *above, last = path.split(".")
    inner = lines[at]["event"]
    for step in above:
        inner[step] = dict(inner[step])
        inner = inner[step]
    inner[last] = value
    answer = validated(tmp_path, lines)
    assert answer.verdict is TraceVerdict.INCONSISTENT
    assert answer.violations[0].event.record.place.line == at + 1


def test_a_leader_without_a_quorum_is_found(tmp_path: Path) -> None:
    lines = [
        line
        for line in whole()
        if line["event"]["name"] != "ReceiveRequestVoteResponse" or line["event"]["msg"]["from"] != "2"
    ]
    assert validated(tmp_path, lines).verdict is TraceVerdict.INCONSISTENT


@pytest.mark.parametrize(
    ("settings", "code"), [([], ExitCode.UP_TO_BOUND), (["--set", "OneVote=false"], ExitCode.VIOLATED)]
)
def test_scenarios_hold_and_need_their_safeguard(settings: list[str], code: ExitCode) -> None:
    assert invoke(["check", "systems/etcd_raft", "--engine", "reference", "--depth", "1", *settings]) == code


@pytest.mark.slow
def test_a_session_as_an_engineer_of_etcd_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The spec is looked at first, then a trace is held against it, then one with a commit index that is one too high."""
    assert invoke(["check", "systems/etcd_raft", "--depth", "2"]) == ExitCode.UP_TO_BOUND
    assert "holds up to bounds" in capsys.readouterr().out
    lines, log = whole(), tmp_path / "trace.ndjson"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = ["validate", str(log), "--spec", "systems/etcd_raft"]
    assert invoke(asked) == ExitCode.OK
    assert capsys.readouterr().out.startswith("consistent: every line that was compared follows the rules")
    at = next(at for at, line in enumerate(lines) if line["event"]["name"] == "Commit")
    event = lines[at]["event"]
    lines[at] = {**lines[at], "event": {**event, "state": {**event["state"], "commit": event["state"]["commit"] + 1}}}
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert invoke([*asked, "--first"]) == ExitCode.VIOLATED
    first = capsys.readouterr().out
    assert "INCONSISTENT" in first
    assert f"trace.ndjson:{at + 1}" in first
    assert invoke([*asked, "--json"]) == ExitCode.VIOLATED
    assert json.loads(capsys.readouterr().out)["verdict"] == "inconsistent"
