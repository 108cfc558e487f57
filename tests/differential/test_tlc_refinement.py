"""TLC says of exported refinements what assay says, with the mapping of actions as well as that of states."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.report import Outcome
from assay.checker.tla.module import export
from assay.grammar.load import Loaded, load_spec, load_text

from .tlc import tlc, write

CLOCK = """
module clock
enum Face: Blank, Shows(hour: 0 .. 9)
param Who: set = {a, b}
state:
    face: Face = Shows(0)
    last: Who? = none
action tick(w: Who):
    when face is Shows(h)
    face := Shows((h + 1) % 3)
    last := w
action turn(to: 0 .. 2):
    when face is Shows(h) and to >= h
    face := Shows(to)
    last := none
"""

WATCH = """
module watch
param Hand: set = {l, r}
param Wrong: bool = false
state:
    h: 0 .. 9 = {start}
    quarter: 0 .. 3 = 0
    by: Hand? = none
action quarter_passes:
    when quarter < 3
    quarter := quarter + 1
action hour_passes(x: Hand):
    when quarter == 3
    quarter := 0
    h := if Wrong and h == 1 then 0 else (h + 1) % 3
    by := x
action adjust(x: 0 .. 2):
    when x > h
    h := x
    by := none
refines clock with:
    Who = Hand
    face = Shows(h)
    last = by
    action hour_passes(x) = tick({who})
    action adjust(x) = {adjusted}
"""


def refinement_agrees(loaded: Loaded, folder: Path) -> Outcome:
    """What both say."""
    (found,) = (p for p in engine_selection.check(loaded.kernel).report.properties if p.kind == "refinement")
    exported = export(loaded.kernel)
    assert not exported.warnings
    write(exported, folder)
    (name,) = (each for each in exported.files if "_refines_" in each and each.endswith(".tla"))
    answer = tlc(folder, name.removesuffix(".tla"), None, "-deadlock")
    assert answer.is_complete is (found.outcome is not Outcome.VIOLATED), answer.error
    if not answer.is_complete:
        assert "is violated" in answer.output, answer.error
    return found.outcome


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "wrong", "outcome"),
    [
        ({}, "false", Outcome.HOLDS),
        ({"who": "_", "adjusted": "tick(_) or turn(x)"}, "false", Outcome.HOLDS),
        ({}, "true", Outcome.VIOLATED),  # from 1 to 0
        ({"adjusted": "turn(0)"}, "false", Outcome.VIOLATED),  # another argument
        ({"start": "1"}, "false", Outcome.VIOLATED),  # another beginning
    ],
)
def test_tlc_says_of_a_small_refinement_what_assay_says(
    changed: dict[str, str], wrong: str, outcome: Outcome, tmp_path: Path
) -> None:
    text = WATCH
    for name, value in {"start": "0", "who": "x", "adjusted": "turn(x)", **changed}.items():
        text = text.replace(f"{{{name}}}", value)
    loaded = load_text(text, modules={"clock": CLOCK}, overrides={"Wrong": wrong})
    assert refinement_agrees(loaded, tmp_path) is outcome


@pytest.mark.slow
def test_tlc_says_of_kip_320_that_it_refines_one_log(checkout: Path, tmp_path: Path) -> None:
    spec = checkout / "spec/kafka/replication/kip320_refinement.assay"
    assert refinement_agrees(load_spec(spec, model="r2l2m2e2"), tmp_path) is Outcome.HOLDS
