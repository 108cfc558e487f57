"""KRaft, the ISR, requests and client metadata: the specs hold in the sizes pinned, and each safeguard, switched off, is missed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.kafka.coverage import check_coverage, check_outcomes
from tests.kafka.kraft import (
    CONFIGURATIONS,
    LARGE,
    QUICK,
    SAFEGUARDS,
    SIZES,
    SPECS,
    Safeguard,
    Size,
)
from tests.kafka.ladder import LADDER, Rung
from tests.stages import everyday, slow

from assay.api.bundled import SPECS as FOLDER
from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, Report, Step
from assay.cli.settings import load
from assay.grammar.parsing.parse import parse
from assay.grammar.syntax import BoolLit, Param
from assay.grammar.values import Value

SMALL = [size for size in SIZES if size.distinct < 3_000]
DEFAULTS = [size for size in SIZES if size.model is None]
DEAR = {"kafka/kraft/partition"}
"""Compiling them takes longer than searching all others."""


@cache
def searched(spec: str, model: str | None, engine: Engine = "native") -> Report:
    loaded = load(spec, model, {})
    return engine_selection.check(loaded.kernel, SearchOptions(), loaded.sources, engine).report


def check_size(size: Size, engine: Engine = "native") -> None:
    report = searched(size.spec, size.model, engine)
    statistics = report.statistics
    assert (statistics.distinct, statistics.generated, statistics.depth) == (size.distinct, size.generated, size.depth)
    check_outcomes(size.spec, load(size.spec, size.model, {}).kernel, report)
    assert (report.engine, report.exit_code) == (engine, ExitCode.OK)
    assert tuple(sorted(label for label, hits in report.bounds.items() if hits)) == size.bounds


@pytest.mark.parametrize(
    "size", [each if each.distinct < 3_000 and each.model != "five_brokers" else slow(each) for each in SIZES], ids=str
)
def test_a_model_holds_in_all_its_states(size: Size) -> None:
    check_size(size)


@pytest.mark.slow
@pytest.mark.parametrize("size", LARGE, ids=str)
def test_a_larger_model_holds_in_all_its_states(size: Size) -> None:
    check_size(size)


@pytest.mark.everyday(2)
@pytest.mark.parametrize("size", SMALL, ids=str)
def test_the_reference_engine_counts_the_same_states(size: Size) -> None:
    check_size(size, "reference")


@pytest.mark.slow
@pytest.mark.parametrize("size", [each for each in SIZES if 3_000 <= each.distinct < 70_000], ids=str)
def test_the_reference_engine_counts_the_same_states_of_what_is_larger(size: Size) -> None:
    check_size(size, "reference")


@pytest.mark.everyday(1)
@pytest.mark.parametrize("safeguard", everyday(QUICK, 3), ids=str)
def test_a_safeguard_switched_off_is_missed(
    safeguard: Safeguard, record_property: Callable[[str, object], None]
) -> None:
    check_safeguard(safeguard, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("safeguard", [each for each in SAFEGUARDS if each not in QUICK], ids=str)
def test_a_safeguard_of_the_partition_switched_off_is_missed(
    safeguard: Safeguard, record_property: Callable[[str, object], None]
) -> None:
    check_safeguard(safeguard, record_property)


def check_safeguard(safeguard: Safeguard, record_property: Callable[[str, object], None]) -> None:
    loaded = load(safeguard.spec, safeguard.model, {safeguard.parameter: "false"})
    options = SearchOptions(properties=frozenset({safeguard.violated}))
    report = engine_selection.check(loaded.kernel, options, loaded.sources, "native").report
    assert report.exit_code is ExitCode.VIOLATED
    (found,) = [each for each in report.properties if each.outcome is Outcome.VIOLATED]
    assert found.name == safeguard.violated
    assert found.trace is not None
    assert (len(found.trace), step_text(found.trace.steps[-1])) == (safeguard.length, safeguard.last)
    seconds = report.statistics.seconds
    record_property(LADDER, Rung(safeguard.spec, safeguard.parameter, found.name, safeguard.length, seconds).cells())


def step_text(step: Step) -> str:
    return f"{step.action}({', '.join(value_text(value) for _, value in step.arguments)})"


def value_text(value: Value) -> str:
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(value_text(each) for each in value))}}}"
    return str(getattr(value, "name", value))


def switches(spec: str) -> list[str]:
    module = parse((FOLDER / f"{spec}.assay").read_text(encoding="utf-8"), spec).module
    return [
        each.name.text
        for each in module.declarations
        if isinstance(each, Param) and isinstance(each.default, BoolLit) and each.default.value
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_every_switch_of_a_spec_is_pinned(spec: str) -> None:
    pinned = {each.parameter for each in SAFEGUARDS if each.spec == spec}
    assert pinned | CONFIGURATIONS.get(spec, set()) == set(switches(spec))


@pytest.mark.slow
def test_two_safeguards_keep_an_isr_from_becoming_empty() -> None:
    """KAFKA-15353 empties the request; a controller that does not look, as in ZooKeeper mode, empties the ISR."""
    off = {"RetryIsIdempotent": "false", "ProposalHasLeader": "false"}
    loaded = load("kafka/kraft/partition", None, off)
    options = SearchOptions(properties=frozenset({"leader_in_isr"}))
    report = engine_selection.check(loaded.kernel, options, loaded.sources, "native").report
    (found,) = [each for each in report.properties if each.outcome is Outcome.VIOLATED]
    assert found.name == "leader_in_isr"
    assert found.trace is not None
    assert [step.action for step in found.trace.steps[1:]] == ["hear", "ask_out", "resend", "take_proposal"]


@pytest.mark.everyday(2)
@pytest.mark.parametrize("size", [slow(each) if each.spec in DEAR else each for each in DEFAULTS], ids=str)
def test_every_action_happens_and_every_guard_decides_or_says_why_not(size: Size) -> None:
    check_coverage(size.spec, load(size.spec, None, {}).kernel, searched(size.spec, None).coverage)


def test_the_index_names_states_and_safeguards(checkout: Path) -> None:
    lines = (checkout / "spec" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = {cells[1].strip(" `"): cells for cells in (line.split("|") for line in lines) if len(cells) > 3}
    for size in DEFAULTS:
        assert [cell.strip() for cell in rows[size.spec][3:5]] == [f"{size.distinct:,}", str(size.depth)]
    for safeguard in SAFEGUARDS:
        assert f"`{safeguard.parameter}`" in rows[safeguard.spec][5]
