"""What an action does in a state is told by another state that agrees in what it reads and assigns (NOTE(like states))."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.synthetic import generate

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.read import read_logs
from assay.traces.search.model import Model, Taken, Wanted
from assay.traces.validate import validate


@pytest.mark.parametrize("violations", [0, 2])
def test_what_is_known_of_like_states_is_what_each_state_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, violations: int
) -> None:
    """Of all states of a log, shared ones and those of slices, and of the search for what is wrong in it."""
    known, like = Model._of_call, [0, 0]

    def compared(model: Model, action: str, wanted: Wanted, state: int) -> tuple[Taken, ...]:
        before = len(model._of_like)
        found = known(model, action, wanted, state)
        assert found == tuple(model._outcomes(action, wanted, state))
        like[len(model._of_like) == before] += bool(found)
        return found

    monkeypatch.setattr(Model, "_of_call", compared)
    generate(tmp_path, 60_000, brokers=3, partitions=4, violations=violations, seed=3)
    found = validate(load_spec(bundled_specs()[0] / "kafka" / "cluster.assay"), read_logs([tmp_path]).events)
    assert found.verdict.value == ("inconsistent" if violations else "consistent")
    assert min(like) > 0
