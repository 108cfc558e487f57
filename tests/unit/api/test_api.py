"""The functions of ``import assay``: the answers of the command line as values, and one kind of exception."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.cli.main import invoke

LAMP = """module lamp
param Limit: int = 2
param Room: set = {hall}
type Count = 0 .. 3
state:
    on: bool = false
    count: Count = 0
action switch(r: Room):
    when some: count < Limit
    on := not on
    count := count + 1
terminal: count == Limit
invariant few: count <= 2
trace log:
    from events
    on Switched(room: Room): switch(room)
    order: file
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "lamp.assay"
    path.write_text(LAMP, encoding="utf-8")
    return path


def test_importing_the_package_imports_none_of_its_parts() -> None:
    seen = "import sys, assay; print([each for each in sys.modules if each.startswith('assay')])"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['assay']"


def test_each_name_is_there_and_no_other() -> None:
    assert {name for name in assay.__all__ if not hasattr(assay, name)} == set()
    assert set(assay.__all__) <= set(dir(assay))
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        assay.chek  # type: ignore[attr-defined]  # noqa: B018 - the attribute is what is asked for


def test_python_values_bind_parameters_as_set_does(lamp: Path) -> None:
    spec = assay.load(lamp, settings={"Limit": 3, "Room": ["hall", "attic"]})
    assert spec.loaded.overrides == {"Limit": "3", "Room": "{hall, attic}"}
    assert assay.load(spec) is spec
    assert assay.load(spec, settings={"Limit": 1}).loaded.overrides == {"Limit": "1", "Room": "{hall, attic}"}


def test_a_check_is_the_one_of_the_command_line(lamp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = assay.check(assay.load(lamp, settings={"Limit": 3}), engine="reference")
    assert (answer.ok, [each.name for each in answer.violated]) == (False, ["few"])
    assert answer.counterexample == answer["few"]
    assert invoke(["check", str(lamp), "--set", "Limit=3", "--engine", "reference", "--json"]) == answer.exit_code
    shown = json.loads(capsys.readouterr().out)
    assert timeless(shown) == timeless(json.loads(json.dumps(answer.to_object())))
    assert str(answer).startswith("VIOLATED: few")


def timeless(shown: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in shown.items() if key not in {"seconds", "effort", "statistics"}}


def test_logs_are_validated_as_by_the_command_line(lamp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = lamp.with_name("log.jsonl")
    lines = [json.dumps({"event": "Switched", "time": at, "room": "hall"}) for at in range(3)]
    log.write_text("\n".join(lines), encoding="utf-8")
    answer = assay.validate(log, lamp)
    assert (answer.ok, answer.verdict) == (False, assay.TraceVerdict.INCONSISTENT)
    assert [each.place.line for each in answer.mismatches] == [3]
    assert invoke(["validate", str(log), "--spec", str(lamp), "--json"]) == answer.exit_code
    assert json.loads(capsys.readouterr().out)["violations"] == json.loads(json.dumps(answer.to_object()))["violations"]
    assert "log.jsonl:3" in str(answer)


def test_bad_input_is_one_exception_with_the_diagnostics_that_are_printed(lamp: Path) -> None:
    lamp.write_text(LAMP.replace("count + 1", "cuont + 1"), encoding="utf-8")
    with pytest.raises(assay.InputError) as caught:
        assay.check(lamp)
    [found] = caught.value.diagnostics
    assert (found.span.line, found.code[0]) == (11, "E")
    assert "count := cuont + 1" in str(caught.value), "with its line"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda lamp: assay.load("no/such"), "E903"),
        (lambda lamp: assay.load(lamp, model="small"), "E308"),
        (lambda lamp: assay.check(lamp, options=assay.SearchOptions(properties=frozenset({"fw"}))), "E804"),
        (lambda lamp: assay.validate("no-such.jsonl", lamp), "E601"),
        (lambda lamp: assay.validate(lamp, lamp, clause="lgo"), "E710"),
        (lambda lamp: assay.prove(lamp, sets=["Room"], inductive=["few"]), "E901"),
        (lambda lamp: assay.explain("E9999"), "E904"),
    ],
)
def test_whatever_is_wrong_has_a_code(wrong: Callable[[Path], object], code: str, lamp: Path) -> None:
    with pytest.raises(assay.InputError) as caught:
        wrong(lamp)
    assert [each.code for each in caught.value.diagnostics] == [code]
