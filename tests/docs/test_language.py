"""docs/language.md is executed: whole specs are checked, parts of specs are parsed, and every form of expression means something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.report import Outcome
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.formatting.format import format_module
from assay.grammar.load import load_text
from assay.grammar.parsing.parse import parse

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = [
    (PAGE.count("\n", 0, m.start()) + 1, m[1])
    for m in re.finditer(r"^```assay\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
]
SPECS = [(line, text) for line, text in BLOCKS if "state:" in text]
PARTS = [(line, text) for line, text in BLOCKS if "state:" not in text]

TYPES = """\
module probe

param Broker: set = {b1, b2, b3}
type Epoch = 0 .. 3
enum Role: Standby, Active(epoch: Epoch)
record Vote: voter: Broker, epoch: Epoch

"""
COMMON = (
    "    S: set[Broker] = {}\n    T: set[Broker] = {}\n    P: bool = true\n    target: Broker = b1\n    n: Epoch = 0\n"
)
LOGIC = "".join(f"    {name}: bool = true\n" for name in "abcefg")
NUMBERS = "    c: bool = true\n    w: Epoch = 0\n    v: Epoch = 0\n" + "".join(
    f"    {name}: Epoch = 0\n" for name in "abe"
)
ELEMENTS = "    e: Epoch = 0\n" + "".join(f"    {name}: Broker = b1\n" for name in "abkl")

STATES = {
    "logic": LOGIC,
    "numbers": NUMBERS,
    "numbers in collections": NUMBERS.replace("    e: Epoch = 0\n", "")
    + "    s: seq[Epoch, max 3] = []\n    I: set[Epoch] = {}\n",
    "elements": ELEMENTS
    + "    v: Epoch = 0\n    w: Epoch = 0\n    m: map[Broker, Epoch, max 3] = {}\n    x: Broker = b1\n",
    "sequences": ELEMENTS + "    x: Broker = b1\n    s: seq[Broker, max 3] = []\n",
    "image": "    s: seq[Broker, max 3] = []\n    e: Epoch = 0\n    a: Broker = b1\n",
    "filter": "    a: Broker = b1\n    e: Epoch = 0\n",
    "total map": "    e: Epoch = 0\n    m: map[Broker, Epoch] = [q -> 0]\n",
    "bags": "    a: Broker = b1\n    x: Broker = b1\n    b: bag[Broker, max 3] = {}\n",
    "kept of a bag": "    b: bag[Broker, max 3] = {}\n",
    "variants": "    x: Role = Standby\n",
    "options": "    x: Broker? = none\n",
    "time": "    f: bool = true\n    g: bool = true\n    b: Broker = b1\n",
    "body": "    e: Epoch = 0\n    body: Epoch = 0\n",
    "tuples": "    a: Broker = b1\n    b: Epoch = 0\n    t: (Broker, Epoch) = (b1, 0)\n",
    "all elements": "    e: Epoch = 0\n    f: Epoch = 0\n    s: seq[Broker, max 3] = []\n",
    "record": "    r: Vote = Vote(voter = b1, epoch = 0)\n    b: Broker = b1\n",
}

TEMPLATES = (
    "invariant probe: ({}) == ({})",
    "invariant probe: S == ({})",
    "invariant probe: s == ({})",
    "invariant probe: m == ({})",
    "invariant probe: target in ({})",
    "invariant probe: ({}) == x",
    "invariant probe: ({}) == 0",
    "invariant probe: count({}) == 0",
    "invariant probe: ({}) == b1",
    "invariant probe: ({}) == (b1, 0)",
    "transition probe: ({}) == ({})",
    "property probe: {}",
)


def forms() -> list[str]:
    """The code spans of the first column of the table in section 5."""
    section = PAGE.split("\n## 5. ")[1].split("\n## ")[0]
    cells = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `")]
    return [form for cell in cells for form in re.findall(r"`([^`]+)`", cell) if "…" not in form]


def means_something(form: str, state: str, template: str) -> bool:
    shown = form.replace("max(S)", "max(I)").replace("min(S)", "min(I)").replace("sum(S)", "sum(I)")
    actions = "\naction a(q: Broker):\n    target := q\n" if template.startswith("property") else ""
    text = TYPES + "state:\n" + COMMON + state + actions + "\n" + template.replace("{}", shown)
    try:
        load_text(text + "\n")
    except SpecError:
        return False
    return True


@pytest.mark.parametrize(("line", "text"), SPECS, ids=lambda value: str(value)[:9])
def test_a_whole_spec_on_the_page_is_checked_to_its_end(line: int, text: str) -> None:
    loaded = load_text(text)
    report = check(loaded.kernel, None, loaded.sources)
    assert {result.outcome for result in report.properties} <= {Outcome.HOLDS, Outcome.UP_TO_BOUND}
    assert report.stopped is None


@pytest.mark.parametrize(("line", "text"), BLOCKS, ids=lambda value: str(value)[:9])
def test_every_example_is_read_and_survives_formatting(line: int, text: str) -> None:
    parsed = parse(text, "language.md")
    assert parsed.diagnostics == ()
    assert parse(format_module(parsed.module), "language.md").module == parsed.module


def test_the_page_has_specs_and_parts() -> None:
    assert SPECS
    assert PARTS
    assert len(forms()) > 50


@pytest.mark.everyday(28)
@pytest.mark.parametrize("form", forms())
def test_every_form_of_expression_has_a_meaning_in_some_spec(form: str) -> None:
    assert any(means_something(form, state, template) for state in STATES.values() for template in TEMPLATES)
