"""`assay mutate` names the mistakes that no property notices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_survivors_are_listed_and_the_exit_code_is_1(assay: Any) -> None:
    ran = assay("mutate", "counter.assay")
    assert ran.code == 1
    assert ran.out.startswith("2 of 4 mutants killed (50.0%)\n")
    assert "survived: no property notices: 2\n  counter.assay:16:5 drop without `when full: count == 3`\n" in ran.out
    assert "  two kills 1 mutant\n" in ran.out
    assert ran.err == ""


def test_the_same_in_json(assay: Any) -> None:
    answer = assay("mutate", "counter.assay", "--json").json
    assert (answer["assay"], answer["verdict"], answer["module"]) == ("1", "survivors", "counter")
    assert answer["mutants"]["total"] == len(answer["judged"])
    assert answer["score"] == answer["mutants"]["killed"] / (
        answer["mutants"]["total"] - answer["mutants"]["equivalent"]
    )
    first = answer["judged"][0]
    assert first["place"]["file"] == "counter.assay"
    assert set(first) >= {"kind", "actions", "text", "fate", "killers"}


def test_explained_survivors_exit_0(assay: Any, tmp_path: Path) -> None:
    spec = tmp_path / "counter.assay"
    text = spec.read_text(encoding="utf-8")
    text = text.replace("    when full:", "    # survives drop: it may start again at any time\n    when full:")
    text = text.replace("    count := 0\n", "    count := 0  # survives keep: it need not\n")
    spec.write_text(text, encoding="utf-8")
    ran = assay("mutate", "counter.assay")
    assert ran.code == 0
    assert "it may start again at any time" in ran.out


def test_a_spec_that_does_not_hold_is_refused(assay: Any) -> None:
    ran = assay("mutate", "counter.assay", "--model", "double", "--set", "Most=9")
    assert ran.code == 2
    assert "E905" in ran.err
    assert ran.out == ""


@pytest.mark.slow
def test_the_limit_on_states_can_be_chosen(assay: Any) -> None:
    assert assay("mutate", "counter.assay", "--max-states", "1", "--json").json["mutants"]["undecided"] > 0


LAMPS = """\
module lamps
param Node: set = {a}
state:
    lit: set[Node] = {}
action light(n: Node):
    when dark: n not in lit
    lit := lit + {n}
terminal: lit == Node
scenario a_lamp_is_lit_once:
    light(b)
    refuse light(b) by dark
model two: Node = {a, b}
"""


def test_scenarios_of_a_model_that_is_not_searched_judge_too(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "lamps.assay").write_text(LAMPS, encoding="utf-8")
    alone = assay("mutate", "lamps.assay", "--json").json
    assert {each["fate"] for each in alone["judged"] if each["kind"] == "drop"} == {"equivalent"}
    ran = assay("mutate", "lamps.assay", "--scenarios", "two", "--json")
    assert (ran.code, ran.json["kills"]["a_lamp_is_lit_once"]) == (0, 3)
    assert (ran.json["model"], ran.json["states"]["distinct"]) == (None, 2)


def test_scenarios_that_do_not_hold_are_refused_as_judges(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "lamps.assay").write_text(LAMPS.replace("refuse light(b) by dark", "light(b)"), encoding="utf-8")
    ran = assay("mutate", "lamps.assay", "--scenarios", "two")
    assert (ran.code, ran.out) == (2, "")
    assert "E905" in ran.err
    assert "a_lamp_is_lit_once" in ran.err


def test_a_model_without_scenarios_is_refused_as_a_judge(assay: Any) -> None:
    ran = assay("mutate", "counter.assay", "--scenarios", "double")
    assert ran.code == 2
    assert "it has none" in ran.err
