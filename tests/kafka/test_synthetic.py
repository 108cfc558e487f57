"""A simulated cluster's log: every line is one of Kafka's, and of the partitions exactly those that break a rule are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.pinned import measure  # noqa: E402  # the benchmarks lie beside the package
from benchmarks.synthetic import generate, size_of  # noqa: E402  # the benchmarks lie beside the package

from assay.grammar.load import bundled_specs, load_spec  # noqa: E402
from assay.traces.log_reader import read_logs  # noqa: E402
from assay.traces.result import TraceVerdict  # noqa: E402
from assay.traces.slices.slice_validator import Joiner  # noqa: E402
from assay.traces.validate import validate, validate_shared  # noqa: E402


def verdicts(folder: Path) -> dict[str, TraceVerdict]:
    """The verdict about each partition."""
    reading = read_logs([folder])
    assert not reading.unmapped
    assert reading.other == 0
    loaded = load_spec(bundled_specs()[0] / "kafka" / "cluster.assay")
    return {each.name: each.verdict for each in validate(loaded, list(reading.events)).slices}


@pytest.mark.slow
def test_a_healthy_cluster_is_consistent_and_the_same_seed_gives_the_same_log(tmp_path: Path) -> None:
    for name in ("one", "other"):
        assert generate(tmp_path / name, 60_000, brokers=4, partitions=4, violations=0, seed=3) == ()
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.log"))
    assert all((tmp_path / "one" / path).read_bytes() == (tmp_path / "other" / path).read_bytes() for path in files)
    found = verdicts(tmp_path / "one")
    assert len(found) == 4
    assert set(found.values()) == {TraceVerdict.CONSISTENT}


@pytest.mark.slow
def test_a_broken_rule_is_explained_without_all_that_many_brokers_might_have_done_unseen(tmp_path: Path) -> None:
    (broken,) = generate(tmp_path, 100_000, brokers=12, partitions=4, violations=1, seed=3)
    loaded = load_spec(bundled_specs()[0] / "kafka" / "cluster.assay")
    shared, slices = validate_shared(loaded, list(read_logs([tmp_path]).events))
    assert shared.joint is not None
    joiner = Joiner(shared.joint)
    answer = joiner.of_slice(broken, slices[broken])
    assert [part.label for each in answer.result.violations for part in each.blame[0].parts] == ["first_in_order"]
    assert len(joiner.model.states) < 2 * answer.visited


@pytest.mark.slow
def test_a_cluster_of_thirty_brokers_has_more_sets_of_them_than_can_be_listed(tmp_path: Path) -> None:
    broken = generate(tmp_path, 150_000, brokers=30, partitions=6, violations=6, seed=1)
    assert {name for name, verdict in verdicts(tmp_path).items() if verdict is TraceVerdict.INCONSISTENT} == set(broken)


@pytest.mark.slow
def test_every_injected_violation_is_found_and_nothing_else(tmp_path: Path) -> None:
    broken = generate(tmp_path, 300_000, brokers=9, partitions=12, violations=4, seed=1)
    found = verdicts(tmp_path)
    assert len(broken) == 4
    assert {name for name, verdict in found.items() if verdict is not TraceVerdict.CONSISTENT} == set(broken)


def test_what_pinned_events_take_is_measured_of_a_log_that_is_consistent(tmp_path: Path) -> None:
    generate(tmp_path, 60_000, brokers=4, partitions=4, violations=0, seed=3)
    line = measure(tmp_path, most=3)
    assert (line["slices"], line["inconsistent"], line["undecided"]) == (3, 0, 0)
    assert isinstance(line["events"], int)
    assert isinstance(line["events_of_slices"], int)
    assert isinstance(line["events_of_what_slices_share"], int)
    assert 0 < line["events_of_slices"] < line["events"] - line["events_of_what_slices_share"]


def test_sizes_are_bytes_or_have_a_unit() -> None:
    assert [size_of(text) for text in ("2GB", "1.5mb", "17")] == [2_000_000_000, 1_500_000, 17]
    with pytest.raises(ValueError, match="could not convert"):
        size_of("manyMB")
