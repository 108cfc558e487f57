"""The bundled specs: how many states they have, that they hold, and that each safeguard, switched off, is missed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.checker import portfolio
from assay.checker.options import SearchOptions
from assay.checker.portfolio import Engine
from assay.checker.verdict import ExitCode, Outcome, Report, Step, Trace
from assay.cli.bundled import bundled_specs
from assay.cli.main import invoke
from assay.cli.settings import load


@dataclass(frozen=True)
class Size:
    """A spec that holds: its counts, the same as published where the spec's docstring names a source."""

    spec: str
    distinct: int
    generated: int
    depth: int
    bounds: tuple[str, ...] = ()


SIZES = [
    Size("classics/die_hard", 16, 97, 8),
    Size("classics/transaction_commit", 34, 94, 7),
    Size("classics/two_phase", 288, 1_146, 11),
    Size("kafka/controller", 181_168, 1_894_757, 26, ("own_ids", "zxids")),
    Size("kafka/leadership", 283_684, 2_171_449, 10, ("assignments", "leader_epochs", "versions")),
    Size("kafka/membership", 27_451, 218_001, 24, ("zxids",)),
]
SMALL = [size for size in SIZES if size.distinct < 1_000]


@dataclass(frozen=True)
class Safeguard:
    """A parameter that is true by default, and the shortest run that goes wrong without it; ``length`` counts states."""

    spec: str
    parameter: str
    violated: tuple[str, ...]
    length: int
    last: str

    def __str__(self) -> str:
        return f"{self.spec} {self.parameter}"


SAFEGUARDS = [
    Safeguard("classics/two_phase", "WaitForAll", ("consistent",), 4, "obey_commit(r2)"),
    Safeguard(
        "kafka/membership",
        "RefuseDuplicateId",
        ("one_process_per_id", "registered_owns_node"),
        7,
        "register(p2, b1, 2)",
    ),
    Safeguard("kafka/membership", "EphemeralNodes", ("registered_by_live_session",), 5, "expire(s1)"),
    Safeguard("kafka/controller", "FenceByEpoch", ("never_obeys_an_older_controller",), 16, "obey(p1, b1, 1)"),
    Safeguard("kafka/controller", "FenceWrites", ("never_written_by_an_older_controller",), 16, "write(p1)"),
    Safeguard("kafka/controller", "AtomicElection", ("claimant_has_highest_epoch",), 14, "take_epoch(p1)"),
]
QUICK_BY_REFERENCE = [each for each in SAFEGUARDS if each.spec != "kafka/controller"]


def searched(spec: str, settings: dict[str, str], engine: Engine) -> Report:
    loaded = load(spec, None, settings)
    return portfolio.check(loaded.kernel, SearchOptions(), loaded.sources, engine).report


def counterexamples(report: Report) -> dict[str, Trace]:
    """The violated properties with their runs; a scenario that needs the safeguard is violated too, and is no search."""
    return {
        each.name: each.trace
        for each in report.properties
        if each.outcome is Outcome.VIOLATED and each.kind != "scenario" and each.trace is not None
    }


def step_text(step: Step) -> str:
    return f"{step.action}({', '.join(str(getattr(value, 'name', value)) for _, value in step.arguments)})"


def actions(trace: Trace) -> list[str]:
    return [step_text(step) for step in trace.steps[1:]]


def check_size(size: Size, engine: Engine) -> None:
    report = searched(size.spec, {}, engine)
    statistics = report.statistics
    assert (statistics.distinct, statistics.generated, statistics.depth) == (size.distinct, size.generated, size.depth)
    assert [each.name for each in report.properties if each.outcome is not Outcome.HOLDS] == []
    assert (report.engine, report.exit_code) == (engine, ExitCode.OK)
    assert tuple(sorted(label for label, hits in report.bounds.items() if hits)) == size.bounds


def check_safeguard(safeguard: Safeguard, engine: Engine) -> None:
    report = searched(safeguard.spec, {safeguard.parameter: "false"}, engine)
    assert (report.engine, report.exit_code) == (engine, ExitCode.VIOLATED)
    found = counterexamples(report)
    assert tuple(found) == safeguard.violated
    for trace in found.values():
        assert (len(trace), actions(trace)[-1]) == (safeguard.length, safeguard.last)


def test_every_bundled_spec_is_pinned_here_or_among_those_of_replication() -> None:
    pinned_elsewhere = ("kafka/replication/", "kafka/cluster")  # test_replication.py, test_leadership.py
    assert [size.spec for size in SIZES] == [spec for spec in bundled_specs() if not spec.startswith(pinned_elsewhere)]


def test_the_index_names_every_spec_with_its_states_and_safeguards(checkout: Path) -> None:
    lines = (checkout / "spec" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = {cells[1].strip(" `"): cells for cells in (line.split("|") for line in lines) if len(cells) > 3}
    assert {name for name in rows if "/" in name} == set(bundled_specs())
    for size in SIZES:
        if "replication" not in size.spec:
            assert [cell.strip() for cell in rows[size.spec][3:5]] == [f"{size.distinct:,}", str(size.depth)]
    for safeguard in SAFEGUARDS:
        assert f"`{safeguard.parameter}`" in rows[safeguard.spec][5]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.spec)
def test_the_native_engine_counts_the_states_of_a_spec_that_holds(size: Size) -> None:
    check_size(size, "native")


@pytest.mark.parametrize("size", SMALL, ids=lambda size: size.spec)
def test_the_reference_engine_counts_the_same(size: Size) -> None:
    check_size(size, "reference")


@pytest.mark.slow
def test_the_reference_engine_counts_the_same_states_of_membership() -> None:
    check_size(next(size for size in SIZES if size.spec == "kafka/membership"), "reference")


@pytest.mark.parametrize("safeguard", SAFEGUARDS, ids=str)
def test_without_a_safeguard_the_native_engine_finds_the_shortest_run_that_goes_wrong(safeguard: Safeguard) -> None:
    check_safeguard(safeguard, "native")


@pytest.mark.parametrize("safeguard", QUICK_BY_REFERENCE, ids=str)
def test_without_a_safeguard_the_reference_engine_finds_the_same_run(safeguard: Safeguard) -> None:
    check_safeguard(safeguard, "reference")


@pytest.mark.slow
@pytest.mark.parametrize("safeguard", [each for each in SAFEGUARDS if each not in QUICK_BY_REFERENCE], ids=str)
def test_without_a_safeguard_of_the_controller_the_reference_engine_finds_the_same_run(safeguard: Safeguard) -> None:
    check_safeguard(safeguard, "reference")


def test_two_writes_with_the_session_lost_in_between_leave_the_claimant_with_an_old_epoch() -> None:
    """KAFKA-6082: the former claimant takes the next epoch after its session, and so its claim, has gone."""
    report = searched("kafka/controller", {"AtomicElection": "false"}, "native")
    run = actions(counterexamples(report)["claimant_has_highest_epoch"])
    assert run[-5:] == ["claim_only(p1)", "expire(s1)", "claim_only(p2)", "take_epoch(p2)", "take_epoch(p1)"]


def test_a_request_of_the_deposed_controller_is_obeyed_after_one_of_its_successor() -> None:
    run = actions(counterexamples(searched("kafka/controller", {"FenceByEpoch": "false"}, "native")).popitem()[1])
    obeyed = [action for action in run if action.startswith("obey(p1")]
    assert obeyed == ["obey(p1, b2, 2)", "obey(p1, b1, 1)"]
    assert run.index("expire(s1)") < run.index("elect(p2)")


def test_the_command_line_answers_two_phase_commit_with_the_published_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = invoke(["check", "classics/two_phase", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["verdict"]) == (0, "holds")
    states = answer["states"]
    assert (states["distinct"], states["generated"], states["depth"]) == (288, 1_146, 11)


def test_the_command_line_exits_1_with_fencing_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    code = invoke(["check", "kafka/controller", "--set", "FenceByEpoch=false", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["verdict"]) == (1, "violated")
    (found,) = [each for each in answer["properties"] if each["name"] == "never_obeys_an_older_controller"]
    assert len(found["trace"]) == 16
