"""The parts of recordings that `python -m benchmarks windows` asks about: the same ones again for a seed, and nothing in them that nobody wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from benchmarks.windows import lines
from benchmarks.windows.breaches import BREACHES, breach_cases, note_evidence, twin
from benchmarks.windows.cases import APART, KINDS, LOST_LINE, Case, make, schedule
from benchmarks.windows.parts import everything
from benchmarks.windows.recordings import Files, Recording, load_recordings, recordings_below
from benchmarks.windows.runner import Result
from benchmarks.windows.shrink import shrink
from benchmarks.windows.summary import breach_summary, healthy_summary

from assay.cli.main import invoke

from .recorded import archive

SEED = 5


@pytest.fixture(scope="module")
def zookeeper() -> Recording:
    return recording("A1")


@pytest.fixture(scope="module")
def kraft() -> Recording:
    return recording("kraft-3.3.2")


def recording(run: str) -> Recording:
    (found,) = load_recordings(archive(run))
    return found


def texts(files: Files) -> dict[str, list[str]]:
    return {path: [entry.text for entry in entries] for path, entries in files}


def case_of(source: Recording, kind: str, number: int = 1, seed: int = SEED) -> Case:
    case = make(source, kind, number, seed)
    assert case is not None
    return case


@pytest.mark.parametrize("kind", KINDS | APART)
def test_a_part_is_the_same_for_a_seed_and_holds_only_what_was_written(kind: str, zookeeper: Recording) -> None:
    case = case_of(zookeeper, kind)
    written = {entry.text for _, _, entry in zookeeper.every()}
    assert case.lines > 0
    assert texts(case.files) == texts(case_of(recording("A1"), kind).files)
    if kind not in "SU":  # these edit each line
        assert {text for part in texts(case.files).values() for text in part} <= written


def test_another_seed_cuts_elsewhere(zookeeper: Recording) -> None:
    assert len({case_of(zookeeper, "a", seed=seed).detail for seed in range(5)}) == 5


def test_one_line_is_lost(zookeeper: Recording) -> None:
    whole = sum(len(entries) for _, entries in everything(zookeeper)[1])
    assert sum(len(entries) for _, entries in case_of(zookeeper, LOST_LINE).files) == whole - 1


def test_any_beginning_of_the_schedule_is_spread_over_recordings_and_kinds(
    zookeeper: Recording, kraft: Recording
) -> None:
    drawn = list(islice(schedule([zookeeper, kraft], "abc", SEED), 6))
    assert {(case.recording, case.kind) for case in drawn} == {
        (each.name, kind) for each in (zookeeper, kraft) for kind in "abc"
    }
    assert [case.id for case in drawn] == [case.id for case in islice(schedule([zookeeper, kraft], "abc", SEED), 6)]


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_changes_the_lines_that_it_marks_and_no_others(
    name: str, zookeeper: Recording, kraft: Recording
) -> None:
    places = [each for each in (zookeeper, kraft) if BREACHES[name](each.copy(), random.Random(SEED))]
    assert places
    for source in places:
        broken = source.copy()
        BREACHES[name](broken, random.Random(SEED))
        changed = [e for _, _, e in broken.every() if e.origin is not None and e.text != e.origin.text]
        marked = [entry for _, _, entry in broken.every() if entry.mark is not None]
        assert changed
        assert set(changed) <= set(marked)
        assert sorted(entry.mark or 0 for entry in marked) == list(range(len(marked)))


def test_a_window_shows_the_whole_breach_and_its_twin_shows_none(zookeeper: Recording) -> None:
    broken = zookeeper.copy()
    assert BREACHES["epoch-repeated"](broken, random.Random(SEED))
    whole = Case(broken.name, "whole", 1, *everything(broken), "epoch-repeated")
    assert note_evidence(whole) == 2
    cases = list(breach_cases(broken, whole, "aeko", 2, SEED))
    assert len(cases) >= 6
    for case in cases:
        assert len(case.evidence) == 2
        said = texts(case.files)
        assert all("poch" in "\n".join(said[path]).splitlines()[line - 1] for path, line in case.evidence)
        healthy = {entry.text for _, _, entry in zookeeper.every()}
        assert {text for part in texts(twin(case).files).values() for text in part} <= healthy


@pytest.mark.slow
def test_a_breach_is_one_finding_and_all_else_in_the_log_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That clocks differ is no way to go on after lines that contradict each other: a log without an order by times is
    searched for minutes, and to no end."""
    broken = recording("disks-kraft-4.1.0").copy()
    assert BREACHES["two-quorum-leaders"](broken, random.Random("80/disks-kraft-4.1.0/two-quorum-leaders/0"))
    whole = Case("disks-kraft-4.1.0", "whole", 0, *everything(broken), "two-quorum-leaders")
    assert note_evidence(whole) == 2
    whole.write(tmp_path)
    assert invoke(["validate", str(tmp_path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    (found,) = answer["violations"]
    assert {(each["file"], each["line"]) for each in found["contradiction"]["lines"]} == {
        (f"{tmp_path}/{path}", line) for path, line in whole.evidence
    }
    assert answer["reason"] is None
    assert answer["undecided"] == []


def test_a_minimal_input_keeps_what_is_needed(zookeeper: Recording) -> None:
    case = case_of(zookeeper, "c")
    needed = {case.files[0][1][0].text, case.files[-1][1][-1].text}
    small = shrink(case, having(needed), budget=1000)
    assert [text for part in texts(small.files).values() for text in part] == [
        case.files[0][1][0].text,
        case.files[-1][1][-1].text,
    ]


def having(needed: set[str]) -> Callable[[Case], bool]:
    return lambda case: needed <= {text for part in texts(case.files).values() for text in part}


def test_the_tables_count_verdicts_and_rejections() -> None:
    def result(verdict: str, **others: object) -> Result:
        plain = {
            "id": "A1:a:1",
            "detail": "",
            "kind": "a",
            "verdict": verdict,
            "unexplained": 0,
            "rules": [],
            "named": True,
        }
        return plain | {"traceback": None, "cpu_s": 1.0, "rss_mb": 1, "lines": 1, "reason_class": ""} | others

    healthy = healthy_summary([result("consistent"), result("inconsistent"), result("consistent", traceback="…")])
    assert healthy.splitlines()[1].split()[-10:] == ["1", "0", "0", "0", "0", "1", "1", "0", "1.00", "1.00"]
    windows = [result("inconsistent", breach="x", twin=twin_says) for twin_says in ("consistent", "inconsistent")]
    windows.append(result("vacuous", breach="x", twin=None))
    assert breach_summary(windows).splitlines()[1].split() == ["all", "a", "3", "1", "2", "1", "1", "0", "0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--kinds", "az!"], "no such kind: !, z"), (["--cases", "many"], "invalid int value"), (["x"], "unrecognized")],
)
def test_arguments_that_do_not_fit_are_told(arguments: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        list(lines(arguments))


def test_recordings_are_found_as_archives_and_as_folders(tmp_path: Path) -> None:
    (tmp_path / "left" / "broker-1").mkdir(parents=True)
    (tmp_path / "left" / "broker-1" / "server.log").write_text("[2026-11-21 01:44:27,129] INFO one\n  more\n")
    (tmp_path / "left" / "broker-1" / "server.log.2026-11-20").write_text("[2026-11-20 01:44:27,129] INFO before\n")
    (tmp_path / "A.tar.xz").touch()
    assert recordings_below([tmp_path]) == [tmp_path / "A.tar.xz", tmp_path / "left"]
    assert recordings_below([tmp_path / "left"]) == [tmp_path / "left"]
    (found,) = load_recordings(tmp_path / "left")
    assert list(found.nodes["broker-1"]) == ["server.log.2026-11-20", "server.log"]
    assert [entry.lines for _, _, entry in found.every()] == [1, 2]
