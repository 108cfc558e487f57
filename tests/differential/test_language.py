"""Random specs with all that can be written mean what their texts say, and all engines agree about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.formatting.format import format_module
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text
from assay.grammar.parsing.parse import parse

from . import test_bmc, test_native, test_partial_order, test_prove, test_symmetry
from .language.compared import compare
from .language.specs import Spec, random_spec


def spec_of(seed: int) -> Spec:
    """Every fifth spec is symmetric in its nodes."""
    return random_spec(Random(seed), symmetric=seed % 5 == 4, depth=2 + seed % 3)


def asked(rounds: int, first: int, ask: Callable[[Spec, Kernel, int], Counter[str]]) -> Counter[str]:
    """What is found by asking specs, without those that the language refuses."""
    found: Counter[str] = Counter()
    for seed in range(first, first + rounds):
        spec = spec_of(seed)
        try:
            found += ask(spec, load_text(spec.text).kernel, seed)
        except SpecError:
            found["refused"] += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{spec.text}") from error
    return found


def agreed(is_answered: object) -> Counter[str]:
    return Counter(asked=1, answered=int(bool(is_answered)))


@rounds(4, 2000)
def test_a_spec_means_what_its_text_says(rounds: int) -> None:
    found = asked(rounds, 0, lambda spec, kernel, _: compare(spec, kernel))
    assert found["steps"] >= 5 * rounds
    assert found["properties"] >= 2 * rounds
    assert found["refused"] <= max(3, rounds // 4)
    assert found["unclear"] <= rounds // 5


@rounds(2, 200)
def test_the_native_engine_agrees(rounds: int, tmp_path: Path) -> None:
    found = asked(
        rounds,
        100,
        lambda _, kernel, seed: agreed(
            test_native.agree(kernel, tmp_path, keep_going=seed % 2 == 0, threads=1 + seed % 3)
        ),
    )
    assert found["answered"] >= max(1, rounds // 2, found["asked"] * 9 // 10)


@rounds(2, 200)
def test_bounded_search_agrees(rounds: int) -> None:
    found = asked(rounds, 0, lambda _, kernel, __: agreed(test_bmc.agree(kernel, 3)))
    assert found["answered"] >= max(1, rounds // 2)


@pytest.mark.slow
def test_proofs_agree() -> None:
    assert asked(40, 0, lambda _, kernel, __: agreed(test_prove.agree(kernel)))["answered"] > 10


@pytest.mark.slow
def test_searches_of_orbits_agree(tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for first in range(4, 400, 5):
        found += asked(1, first, lambda _, kernel, __: agreed(test_symmetry.agree(kernel, tmp_path)))
    assert found["answered"] > 30


@pytest.mark.slow
def test_searches_that_leave_out_steps_agree(tmp_path: Path) -> None:
    found = asked(100, 0, lambda _, kernel, __: agreed(reduced(kernel, tmp_path)))
    assert found["asked"] > 30


def reduced(kernel: Kernel, folder: Path) -> bool:
    """Assert that a reduced search answers as the whole one; whether it has fewer states."""
    whole, part = (test_partial_order.searched(kernel, folder, reduce=each) for each in (False, True))
    outcomes = [{each.name: each.outcome for each in report.properties} for report in (whole, part)]
    assert outcomes[0]["defined"] == outcomes[1]["defined"]
    assert outcomes[0] == outcomes[1]
    return part.statistics.distinct < whole.statistics.distinct


@rounds(3, 200)
def test_what_is_formatted_is_what_was_written(rounds: int) -> None:
    for seed in range(rounds):
        module = parse(spec_of(seed).text, "random.assay").module
        text = format_module(module)
        again = parse(text, "random.assay").module
        assert again == module, text
        assert format_module(again) == text
