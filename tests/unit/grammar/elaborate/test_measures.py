"""What may be measured, noted and taken for the end of a process run, and what is said of mistakes in it."""

from __future__ import annotations

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

LAMPS = """\
module lamps

param Lamp: set = {x} symmetric

state:
    lit: map[Lamp, bool] = [l -> true]

action break_down(l: Lamp):
    lit[l] := false

action swap(l: Lamp, m: Lamp):
    lit := [n -> if n == l then lit[m] else if n == m then lit[l] else lit[n]]

trace log:
    from toy
    slice Lamp by lamp
    on Broken(node: Lamp): break_down(node)
    LINE
    order: file
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ends swap", "`swap` cannot end a process run: its one parameter would be the run"),
        ("ends explode", "unknown name `explode`"),
        ('measure dark "it is dark": lit', "expected bool"),
        ('note Flash(slice: Lamp) as bad "a flash": lit[slice]', "what is reported is a `risk` or `known`"),
        ('note Flash(node: Lamp) as risk "a flash": lit[node]', "one of them is `slice`"),
        ('measure dark(node: Lamp) "it is dark": lit[node]', "one of them is `slice`"),
        ('note Flash(slice: Lamp) as risk "{times} flashes": lit[slice]', "no field of the note: `{times}`"),
        ('note Flash(slice: Lamp) as risk "a { flash": lit[slice]', "no field of the note: `{}`"),
        ('measure a "one": lit == {}\n    measure a "two": lit == {}', "there is already a measure `a`"),
    ],
)
def test_a_mistake_is_told(line: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(LAMPS.replace("LINE", line))
    assert any(message in each.message for each in caught.value.diagnostics), caught.value.diagnostics


def test_a_clause_measures_what_the_one_that_it_extends_measures_unless_it_says_otherwise() -> None:
    own = '\ntrace other extends log:\n    measure dark "very dark": not (exists l in Lamp: lit[l])\n'
    base = 'measure dark "it is dark": not (exists l in Lamp: lit[l])\n    measure bright "all lit": forall l in Lamp: lit[l]'
    log, other = load_text(LAMPS.replace("LINE", f"{base}\n    ends break_down") + own).kernel.traces
    assert [(each.name, each.text) for each in log.measures] == [("dark", "it is dark"), ("bright", "all lit")]
    assert [(each.name, each.text) for each in other.measures] == [("bright", "all lit"), ("dark", "very dark")]
    assert other.ends == ("break_down",)
