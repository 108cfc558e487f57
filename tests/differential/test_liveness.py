"""Both engines decide the temporal properties of random specs alike: one by sets and networkx, one by compiled loops over arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.checker.engines import engine_selection
from assay.checker.engines.reference_engine import check as reference
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import Loaded, load_text

from .random_behaviour import random_spec

OPTIONS = SearchOptions(keep_going=True, check_deadlock=False, threads=1)


def essence(report: Report) -> dict[str, tuple[Outcome, int | None, str | None]]:
    """What must agree. The length of a run is part of it: both engines show one that takes the fewest possible steps to
    its loop.
    """
    found = {}
    for each in report.properties:
        way = None if each.trace is None else each.trace.loop
        found[each.name] = (each.outcome, way, None if each.outcome is Outcome.VIOLATED else each.reason)
    return found


def agree(
    seeds: Iterable[int], asked: Callable[[Loaded, int], Report], compared: Callable[[Report], object] = essence
) -> Counter[Outcome]:
    """Assert that what is asked answers random specs (each with its seed) as the reference engine does; how often it said what."""
    seen: Counter[Outcome] = Counter()
    for seed in seeds:
        text = random_spec(Random(seed))
        loaded = load_text(text)
        try:
            slow = reference(loaded.kernel, OPTIONS, loaded.sources)
        except SpecError:  # the automaton of a property would be too large
            continue
        assert compared(asked(loaded, seed)) == compared(slow), text
        seen.update(each.outcome for each in slow.properties if each.kind == "temporal")
    return seen


def native(folder: Path) -> Callable[[Loaded, int], Report]:
    """The native engine, which keeps its code in a folder."""
    return lambda loaded, _: engine_selection.check(loaded.kernel, OPTIONS, loaded.sources, "native", folder).report


@rounds(3, 25)
def test_engines_agree_on_temporal_properties(rounds: int, tmp_path: Path) -> None:
    seen = agree(range(rounds), native(tmp_path))
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) >= rounds // 3


@pytest.mark.slow
@pytest.mark.parametrize("first", [1_000, 2_000, 3_000])
def test_engines_agree_on_many_temporal_properties(first: int, tmp_path: Path) -> None:
    seen = agree(range(first, first + 150), native(tmp_path))
    assert set(seen) == {Outcome.HOLDS, Outcome.VIOLATED, Outcome.UP_TO_BOUND, Outcome.UNKNOWN, Outcome.VACUOUS}
