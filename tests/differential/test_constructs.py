"""What is written out for an engine means what it says: of random specs, and by every engine alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.checker.engines.reference_engine import check as reference
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.rewrite import bound_names, nodes
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
def test_what_is_written_out_is_what_it_says(rounds: int) -> None:
    steps = 0
    for seed in range(rounds):
        report = reference(kernel(seed), SearchOptions(max_states=300, keep_going=True))
        wrong = [
            p.name
            for p in report.properties
            if p.name.startswith(("next", "functions")) and p.outcome is Outcome.VIOLATED
        ]
        assert not wrong, (seed, wrong)
        steps += report.statistics.generated
    assert steps > 20 * rounds


@rounds(6, 300)
def test_no_name_is_bound_again_where_it_is_visible(rounds: int) -> None:
    """An action that `enabled` is asked of may ask it of another one, and both bring names (seeds 100004 and 100041)."""
    for seed in (100_004, 100_041, *range(rounds)):
        made = kernel(seed)
        for declaration in (*made.actions, *made.properties):
            for node in nodes(declaration):
                if isinstance(node, k.LetIn | k.Quantified):
                    assert node.binder.name not in bound_names(node.body), (seed, node.span, node.binder.name)


@rounds(3, 200)
def test_an_action_is_enabled_where_it_leads_to_another_state(rounds: int) -> None:
    compared: Counter[bool] = Counter()
    for seed in range(rounds):
        made = kernel(seed)
        model = Model(made, bounded=False)
        states = [each.state for each in model.init.outcomes() if isinstance(each, Successor)]
        for _ in range(20):
            states += [each.state for _, _, each in outcomes(model, states[-1]) if isinstance(each, Successor)][-2:]
        for property_ in (each for each in made.properties if each.name.startswith("can")):
            action = model.actions[f"act{property_.name[3:]}"]
            instances = [*action.instances][: 1 if property_.name == "can2" else None]  # enabled(act2(a))
            meaning = model.meaning(property_.conjuncts[0].condition)
            for state in states:
                found = [each for arguments in instances for each in action.outcomes(state, arguments)]
                if any(isinstance(each, Stuck) for each in found):
                    continue  # two passes of a loop assign one place, for example
                expected = any(
                    isinstance(each, Cut) or (isinstance(each, Successor) and each.state != state) for each in found
                )
                assert meaning(Frame(state, state)) == expected, (seed, property_.name, state)
                compared[expected] += 1
    assert min(compared[True], compared[False]) > 5 * rounds


@rounds(1, 60)
def test_the_native_engine_agrees_about_what_is_written_out(folder: Path, rounds: int) -> None:
    supported = [test_native.agree(kernel(seed), folder, keep_going=True) is not None for seed in range(rounds)]
    assert all(supported)


@rounds(1, 60)
def test_bounded_search_agrees_about_what_is_written_out(rounds: int) -> None:
    assert any(test_bmc.agree(kernel(seed), 3) for seed in range(rounds))
