"""A search that leaves steps out answers as one that takes all: about random processes over shared and own variables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

GUARDS = (
    "g < 2", "h", "not h", "q not in s", "count(s) < 2", "own[q] > 0", "own[other] == 0", "3 // (g + 1) > 0",
    "3 // own[q] > 0", "flag[q]", "not flag[other]", "flag[q] and 2 // g == 1", "s == {}",
)  # fmt: skip
UPDATES = (
    "g := 1", "g := min({g + 1, 2})", "g := g + 1", "h := true", "h := not h", "s := s + {q}", "s := s - {q}",
    "own[q] := 1", "own[q] := (own[q] + 1) % 3", "own[other] := own[q]", "flag[q] := true", "flag[q] := false",
    "flag[other] := h", "own[q] := g", "if h:\n        flag[q] := false", "for r in s:\n        flag[r] := true",
    "bound few: g < 2", "pick v in s\n    own[q] := min({v, 2})",
)  # fmt: skip
CONDITIONS = (
    "g < 2", "g == 1 implies h", "forall q in Q: own[q] < 2", "flag[0] implies own[0] > 0", "count(s) < 3",
    "not (at[0] == 2 and at[1] == 2)", "at[0] == 1 implies flag[0]", "3 // (own[1] + g) < 4", "s != Q",
)  # fmt: skip


def names_one(line: str) -> bool:
    """Whether a line speaks of a certain process, or of the next one."""
    return any(each in line for each in ("other", "[0]", "[1]", "v in s"))


def random_text(random: Random, *, symmetric: bool) -> str:
    """A module of a few processes, each of which goes through a few places."""
    size, places = random.choice([2, 3, 3, 4]), random.choice([2, 3, 4])
    processes = f"type Q = 0 .. {size - 1}"
    if symmetric:
        processes = f"param Q: set = {{{', '.join('abcd'[:size])}}} symmetric"
    lines = [
        "module processes", "", processes, f"type At = 0 .. {places - 1}", "", "state:",
        "    at: map[Q, At] = [q -> 0]", "    own: map[Q, 0 .. 2] = [q -> 0]", "    flag: map[Q, bool] = [q -> false]",
        "    g: 0 .. 2 = 0", "    h: bool = false", "    s: set[Q] = {}", "",
    ]  # fmt: skip
    # Few updates of what is shared, so that many steps commute.
    guards, updates, conditions = (
        [each for each in some if not (symmetric and names_one(each))] for some in (GUARDS, UPDATES, CONDITIONS)
    )
    updates = [each for each in updates if random.random() < 0.5] or ["own[q] := 1"]
    for place in range(places):
        for way in range(random.choice([1, 1, 2])):
            lines.append(f"action step_{place}_{way}(q: Q):")
            lines += [] if symmetric else [f"    let other = (q + 1) % {size}"]
            lines.append(f"    when at[q] == {place}")
            lines += [f"    when {random.choice(guards)}" for _ in range(random.choice([0, 0, 1]))]
            chosen = [random.choice(updates) for _ in range(random.choice([0, 1, 1, 2]))]
            kinds = {each.partition(" ")[0].partition("[")[0]: each for each in chosen}
            first = sorted(each for each in kinds.values() if each.startswith(("bound", "pick")))
            assigned = {"own"} if any("pick" in each for each in first) else set()
            lines += [f"    {each}" for each in first]
            lines += [f"    {each}" for name, each in kinds.items() if each not in first and name not in assigned]
            onward = random.choice([(place + 1) % places, (place + 1) % places, random.randrange(places)])
            lines += [f"    at[q] := {onward}", ""]
    for number in range(random.choice([0, 1, 2])):
        kind = random.choice(["invariant", "invariant", "reachable"])
        lines.append(f"{kind} i{number}: {random.choice(conditions)}")
    return "\n".join(lines) + "\n"


def searched(kernel: Kernel, folder: Path, *, reduce: bool, symmetry: bool = False, threads: int = 1) -> Report:
    options = SearchOptions(keep_going=True, reduce=reduce, symmetry=symmetry, threads=threads)
    return check(kernel, compile_kernel(kernel, options, folder), options)


def agree(random: Random, folder: Path) -> tuple[int, int]:
    """Assert that both searches answer alike; how many states each found."""
    symmetric = random.random() < 0.3
    text = random_text(random, symmetric=symmetric)
    kernel = load_text(text).kernel
    whole = searched(kernel, folder, reduce=False)
    part = searched(kernel, folder, reduce=True, symmetry=symmetric, threads=random.choice([1, 2]))
    undefined = [report.properties[0].outcome is Outcome.VIOLATED for report in (whole, part)]
    assert undefined[0] == undefined[1], text
    if symmetric and undefined[0]:
        return 0, 0  # under symmetry a search ends where something is undefined
    outcomes = [{each.name: each.outcome for each in report.properties} for report in (whole, part)]
    assert outcomes[0] == outcomes[1], text
    hit = [{label for label, hits in report.bounds.items() if hits} for report in (whole, part)]
    assert hit[0] == hit[1], text
    assert part.statistics.distinct <= whole.statistics.distinct, text
    assert part.reduced is not None
    return whole.statistics.distinct, part.statistics.distinct


@pytest.fixture(autouse=True, scope="module")
def _share_everything() -> Iterator[None]:
    """Threads share even small rounds, and lanes overflow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.checker.explicit.expansion.parallel_round.AMONG_THREADS", 0)
        patch.setattr("assay.checker.explicit.expansion.parallel_round.ROOM", 64)
        yield


@pytest.mark.slow
@rounds(6, 150)
def test_what_is_found_with_some_steps_is_what_is_found_with_all(tmp_path: Path, rounds: int) -> None:
    sizes = [agree(Random(seed), tmp_path) for seed in range(rounds)]
    assert sum(part for _, part in sizes) < sum(whole for whole, _ in sizes)
