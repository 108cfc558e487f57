"""What is written out for an engine means what it says: of random specs, and by every engine alike."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.checker.engines.reference_engine import check as reference
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

from . import test_bmc, test_native
from .random_constructs import random_spec


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


def kernel(seed: int) -> Kernel:
    return load_text(random_spec(Random(seed))).kernel


@rounds(3, 400)
def test_a_next_value_is_the_value_in_the_next_state(rounds: int) -> None:
    steps = 0
    for seed in range(rounds):
        report = reference(kernel(seed), SearchOptions(max_states=300, keep_going=True))
        wrong = [p.name for p in report.properties if p.name.startswith("next") and p.outcome is Outcome.VIOLATED]
        assert not wrong, (seed, wrong)
        steps += report.statistics.generated
    assert steps > 20 * rounds


@rounds(1, 60)
def test_the_native_engine_agrees_about_what_is_written_out(folder: Path, rounds: int) -> None:
    supported = [test_native.agree(kernel(seed), folder, keep_going=True) is not None for seed in range(rounds)]
    assert all(supported)


@rounds(1, 60)
def test_bounded_search_agrees_about_what_is_written_out(rounds: int) -> None:
    assert any([test_bmc.agree(kernel(seed), 3) for seed in range(rounds)])
