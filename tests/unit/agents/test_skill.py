"""The skill for coding agents: what it shows of the language is so."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from assay.agents.server import manual_pages
from assay.cli.main import invoke
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

SKILL = Path(str(files("assay.agents"))) / "skill"
EXAMPLES = sorted((SKILL / "examples").glob("*.assay"))
VERDICTS = {"holds": 0, "violated": 1, "holds up to bounds": 5}
BLOCK = re.compile(r"```assay\n(.*?)```", re.DOTALL)
MISTAKE = re.compile(r"^## .*?\n\n```assay\n(.*?)```\n\n(E\d+): (.*?)$", re.DOTALL | re.MULTILINE)


def test_there_are_ten_examples_and_the_language_takes_200_lines_at_most() -> None:
    assert len(EXAMPLES) == 10
    assert len((SKILL / "language.md").read_text().splitlines()) <= 200
    linked = (SKILL / "SKILL.md").read_text()
    assert all(f"`{each.stem}`" in linked for each in EXAMPLES)
    assert {"SKILL", "language", "mistakes", "examples/lease.assay"} <= set(manual_pages())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_answered_as_it_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"Expected: (holds up to bounds|holds|violated)(?:, `(\w+)`)?", path.read_text())
    assert found
    assert invoke(["check", str(path), "--engine", "reference"]) == VERDICTS[found[1]]
    assert invoke(["fmt", "--check", str(path)]) == 0
    if found[2]:
        assert f"VIOLATED: {found[2]}" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "switch"), [("lease", "Fence"), ("quorum_register", "Majority")])
def test_without_its_safeguard_an_example_is_violated(name: str, switch: str) -> None:
    path = str(SKILL / "examples" / f"{name}.assay")
    assert invoke(["check", path, "--set", f"{switch}=false", "--engine", "reference"]) == 1


def test_the_specs_of_the_language_page_are_right() -> None:
    whole, action, fairness = BLOCK.findall((SKILL / "language.md").read_text())
    load_text(whole)
    variables = {
        "x": "0 .. 3 = 0",
        "y": "0 .. 3 = 0",
        "waiting": "set[Client] = {}",
        "table": "map[Client, 0 .. 1] = [c -> 0]",
        "item": "Item = Item(0)",
        "seen": "map[Client, bool] = [c -> false]",
    }
    state = "\n".join(["state:", *(f"    {name}: {text}" for name, text in variables.items())])
    load_text(f"module m\nparam Client: set = {{a, b}}\nrecord Item: number: 0 .. 9\n{state}\n{action}")
    load_text(whole + fairness)


def mistakes() -> list[tuple[str, str, str]]:
    return MISTAKE.findall((SKILL / "mistakes.md").read_text())


def test_there_are_as_many_mistakes_as_headings() -> None:
    assert len(mistakes()) == (SKILL / "mistakes.md").read_text().count("\n## ") - 1 >= 20


@pytest.mark.parametrize(("text", "code", "message"), mistakes())
def test_a_mistake_gets_this_message(text: str, code: str, message: str) -> None:
    base = BLOCK.findall((SKILL / "mistakes.md").read_text())[0]
    load_text(base)
    with pytest.raises(SpecError) as refused:
        load_text(base + text)
    first = refused.value.diagnostics[0]
    notes = f". {first.notes[0].message}" if first.notes else ""
    assert (first.code, first.message + notes) == (code, message)
