"""docs/kafka-lemmas.md names every lemma of the specs that logs are held to; each is searched every day, and no recorded cluster breaks one."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import copytree

import pytest
from benchmarks.windows.lemmas import lemma_lines

from assay.api.bundled import SPECS
from assay.checker.engines import engine_selection
from assay.checker.options import SearchOptions
from assay.cli.settings import load
from assay.grammar.load import Loaded
from assay.traces.log_reader import read_logs
from assay.traces.options import Options
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import validate_with_selection
from assay.traces.windows.slice_window import lasting
from assay.traces.windows.window_model import LogPart

from .recorded import archive

ROW = re.compile(r"^\| `(kafka/[\w/]+)` \| `(\w+)` \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)
OLDEST = {
    "kafka/membership": ("stopped_knows_nothing", "sessions_are_not_shared"),
    "kafka/controller": ("stopped_has_no_duties", "sent_is_past", "acts_with_the_past"),
}
"""Those that are called invariants in their specs: users read them in answers about logs."""
DECLARED = re.compile(r"^lemma (\w+):", re.MULTILINE)
EVERYDAY = {
    "kafka/membership": ("kafka/membership", None, None),
    "kafka/controller": ("kafka/cluster", "small", None),
    "kafka/leadership": ("kafka/cluster", "small", None),
    "kafka/cluster": ("kafka/cluster", "small", None),
    "kafka/kraft/voting": ("kafka/kraft/voting", None, None),
    "kafka/kraft/registration": ("kafka/kraft/registration", "one_id", None),
    "kafka/kraft/leadership": ("kafka/kraft/cluster", None, 6),
    "kafka/kraft/cluster": ("kafka/kraft/cluster", None, 6),
}
"""Where the lemmas of a spec are searched every day: spec, model, and the number of states up to which runs are followed."""
RUNS = (
    "A1",
    "A3",
    "A6",
    "C1",
    "C2",
    "disks-zookeeper-2.8.2",
    "kraft-3.3.2",
    "kraft-4.1.1",
    "zookeeper-0.10.2.2",
    "zookeeper-2.2.2",
)


@cache
def rows() -> list[tuple[str, str, str, str]]:
    page = SPECS.resolve().parent / "docs" / "kafka-lemmas.md"
    return ROW.findall(page.read_text(encoding="utf-8"))


def lemmas(spec: str) -> set[str]:
    """The names of a spec's lemmas, as the page has to list them."""
    text = (SPECS / f"{spec}.assay").read_text(encoding="utf-8")
    return {*DECLARED.findall(text), *OLDEST.get(spec, ())}


def test_the_page_lists_each_lemma_once_and_no_other() -> None:
    listed = Counter((spec, name) for spec, name, _, _ in rows())
    assert listed == Counter((spec, name) for spec in EVERYDAY for name in lemmas(spec))


def test_every_lemma_says_in_words_what_holds() -> None:
    for spec in EVERYDAY:
        lines = (SPECS / f"{spec}.assay").read_text(encoding="utf-8").splitlines()
        for name in lemmas(spec):
            at = next(at for at, line in enumerate(lines) if re.match(rf"(lemma|invariant) {name}:", line))
            assert lines[at + 1].startswith('    "'), f"{spec}: {name}"


@pytest.mark.everyday(1)
@pytest.mark.parametrize("search", dict.fromkeys(EVERYDAY.values()), ids=str)
def test_the_lemmas_hold_in_a_search_of_every_day(search: tuple[str, str | None, int | None]) -> None:
    top, model, depth = search
    loaded = load(top, model, {})
    names = {name for spec, its in EVERYDAY.items() if its == search for name in lemmas(spec)}
    report = engine_selection.check(loaded.kernel, SearchOptions(max_depth=depth), loaded.sources, "native").report
    outcomes = {each.name.rpartition(".")[2]: each.outcome.value for each in report.properties}
    said = {"holds"} if depth is None else {"holds up to bounds"}
    assert {name: outcomes.get(name) for name in names if outcomes.get(name) not in said} == {}


def asked_of_logs(folder: Path, more: str = "") -> Path:
    """The folder with the specs in which lemmas are invariants, which are asked of logs too; ``more`` is added to `kafka.controller`."""
    copytree(SPECS / "kafka", folder / "kafka")
    for path in (folder / "kafka").rglob("*.assay"):
        added = more if path.name == "controller.assay" else ""
        path.write_text(re.sub(r"^lemma ", "invariant ", path.read_text(encoding="utf-8"), flags=re.MULTILINE) + added)
    return folder


LASTING = re.compile(r"^\| `(kafka/(?:kraft/)?cluster)` \| ((?:`\w+`(?:, )?)+) \| [^|]+ \|$", re.MULTILINE)


@pytest.mark.parametrize(
    ("spec", "clause"), [("kafka/cluster", "zookeeper_logs"), ("kafka/kraft/cluster", "kraft_logs")]
)
def test_what_the_page_says_to_last_lasts(spec: str, clause: str) -> None:
    page = (SPECS.resolve().parent / "docs" / "kafka-lemmas.md").read_text(encoding="utf-8")
    listed = {name for where, names in LASTING.findall(page) if where == spec for name in re.findall(r"\w+", names)}
    loaded = load(str(SPECS / f"{spec}.assay"), None, {})
    plan = next(each for each in loaded.kernel.traces if each.name == clause)
    assert listed == lasting(LogPart(loaded, plan, Options()))


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_no_recorded_cluster_breaks_a_lemma(run: str, tmp_path: Path) -> None:
    specs = asked_of_logs(tmp_path)
    reading = read_logs([archive(run)])
    loaded, validation = validate_with_selection(
        reading, None, lambda name: load(str(specs / f"{name}.assay"), None, {})
    )
    assert {name.rpartition(".")[2] for name in kinds(loaded, "invariant")} >= lemmas(
        loaded.kernel.name.replace(".", "/")
    )
    assert kinds(loaded, "lemma") == []
    assert validation.execution is not None
    assert [broken.name for broken in validation.properties] == []


@pytest.mark.slow
def test_few_lines_notice_that_a_lemma_is_taken_away() -> None:
    """Lines whose rules read no variable of a lemma notice nothing: these logs are all of one cluster."""
    noticed = {each["lemma"]: each["noticed_by"] for each in islice(lemma_lines(2, seed=2), 6)}
    assert noticed["membership.stopped_knows_nothing"] is not None
    assert noticed["cluster_is_new"] is None


def kinds(loaded: Loaded, kind: str) -> list[str]:
    """The names of the properties of a kind."""
    return [each.name for each in loaded.kernel.properties if each.kind == kind]


def test_a_lemma_that_is_wrong_is_noticed_where_it_is_asked(tmp_path: Path) -> None:
    """The test above can fail: the first controllers are not the only ones."""
    specs = asked_of_logs(tmp_path, "\ninvariant first: controller_epoch < 2\n")
    loaded = load(str(specs / "kafka" / "controller.assay"), None, {})
    validation = validate_in_scope(loaded, read_logs([archive("A3")]), Options())
    assert [broken.name for broken in validation.properties] == ["first"]
