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
from assay.grammar.syntax import RESERVED

SKILL = Path(str(files("assay.agents"))) / "skill"
EXAMPLES = sorted((SKILL / "examples").glob("*.assay"))
VERDICTS = {"holds": 0, "violated": 1, "holds up to bounds": 5}
BLOCK = re.compile(r"```assay\n(.*?)```", re.DOTALL)
FORMS = """
module forms
param Client: set = {a, b}
type Count = 0 .. 3
enum E: A, B(x: Count)
record R: x: Count, y: Count
type Pairs = set[(Client, Count)]
def of_enum(v: Count): set[E] = if v == 1 then {A, B(3)} else {}
def of_record(r: R): R = if true or r.x == 1 or false then r with {x = 2} else R(1, 2)
def of_optional(x: Count?): bool = x == none or x is some(v) and v > 0
def of_sets(S: set[Client], T: set[Client], x: Client): bool = x in S and S <= T and S & T in subsets(S)
def one(S: set[Client]): bool = count(S) == 1
def made(S: set[Client], x: Client): set[set[Client]] = {{}, {a, b}, S + {x}, S - {x}, Client}
def parts(S: set[Count], P: bool, e: Count): set[set[Count]] = {{x in S if P}, {e for x in S if P}}
def ends(S: set[Count], s: seq[Count, max 3]): bool = min(S) <= max(S) and elements(s) == S
def of_map(m: map[Client, Count], k: Client, v: Count): map[Client, Count] =
    if m[k] == v then m else m with {k -> v}
def of_all(v: Count): map[Client, Count] = [k -> v]
def of_entries(m: map[Client, Count, max 2], k: Client): bool = k in m and without(m, k) != {}
def of_keys(m: map[Client, Count, max 2]): bool = keys(m) != {} and values(m) != {}
def of_values(S: set[Client], e: Count): map[Client, Count, max 2] = [b in S -> e]
def of_sequence(s: seq[Count, max 3], x: Count, n: Count): set[seq[Count, max 3]] = {[], s + [x], drop(s, 1)}
def starts(s: seq[Count, max 3], n: Count): seq[Count, max 3] = if n == 0 then take(s, n) else [s[0], first(s)]
def numbers(a: Count, b: Count): set[Count] = a .. b
def counted(s: seq[Count, max 3]): int = count(s)
def of_bag(x: Client): bool = (let b = bag{a, a}: times(b, x) == 2)
def of_tuple(t: (Client, Count)): bool = t == (a, 1) and t[0] == a and (let (c, n) = t: c == a and n in 0 .. 2)
def of_tuples(pairs: Pairs): set[Client] = {c for (c, n) in pairs if n > 0}
def sums(S: set[Client], e: Count, P: bool): int = sum(e for x in S) + count(x for x in S if P)
def parts_of(S: set[Client], e: Count): set[int] = {sum({e for x in S}), min(e for x in S)}
def chosen(S: set[Client], P: bool): Client = choose x in S if P
def greatest(S: set[Client], m: map[Client, Count]): Client = (let e = 1: argmax(e for x in S))
def folded(s: seq[Count, max 3], e: Count, f: Count): int = fold a = e for x in s: f
"""
FORMS_IN_SENTENCES = """
module sentences
param Client: set = {a, b}
type Count = 0 .. 3
state:
    table: map[Client, map[Client, Count]] = [r -> [s -> 0]]
    next: Count? = none
    count: Client? = none
def least(S: set[Count]): Count? = if S == {} then none else min(S)
action move(c: Client, d: Client):
    table[c][d] := 1
    next := least(values(table[c]))
action choice:
    let S = {k for k in Client if table[k][k] == 1}
    pick m in (if S == {} then {none} else {some(c) for c in S})
    count := m
invariant i: forall x in Client, y in Count: x == a or x == b or y > 0
"""
STEPS = """
module steps
param Client: set = {c1, c2}
type Count = 0 .. 3
state:
    e: Count = 0
    n: Count = 0
action step(c: Client):
    e := 1
    n := new(e)
action a(c: Client):
    e := 2
reachable can: enabled(a) and enabled(a(c1))
"""
MISTAKE = re.compile(r"^## .*?\n\n```assay\n(.*?)```\n\n(E\d+): (.*?)$", re.DOTALL | re.MULTILINE)


def test_there_are_eleven_examples_and_the_language_takes_200_lines_at_most() -> None:
    assert len(EXAMPLES) == 11
    assert len((SKILL / "language.md").read_text().splitlines()) <= 200
    linked = (SKILL / "SKILL.md").read_text()
    assert all(f"`{each.stem}`" in linked for each in EXAMPLES)
    assert {"SKILL", "language", "mistakes", "examples/lease.assay"} <= set(manual_pages())


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem == "paxos")) for path in EXAMPLES]
)
def test_an_example_is_answered_as_it_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"Expected: (holds up to bounds|holds|violated)(?:, `(\w+)`)?", path.read_text())
    assert found
    assert invoke(["check", str(path), "--engine", "reference"]) == VERDICTS[found[1]]
    assert invoke(["fmt", "--check", str(path)]) == 0
    if found[2]:
        assert f"VIOLATED: {found[2]}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "switch"),
    [("lease", "Fence"), ("quorum_register", "Majority"), pytest.param("paxos", "Newest", marks=pytest.mark.slow)],
)
def test_without_its_safeguard_an_example_is_violated(name: str, switch: str) -> None:
    path = str(SKILL / "examples" / f"{name}.assay")
    assert invoke(["check", path, "--set", f"{switch}=false", "--engine", "reference"]) == 1


def test_the_specs_of_the_language_page_are_right() -> None:
    whole, action, patterns, functions, fairness = BLOCK.findall((SKILL / "language.md").read_text())
    load_text(whole)
    variables = {
        "x": "0 .. 3 = 0",
        "y": "0 .. 3 = 0",
        "waiting": "set[Client] = {}",
        "table": "map[Client, 0 .. 1] = [c -> 0]",
        "item": "Item = Item(0)",
        "seen": "map[Client, bool] = [c -> false]",
        "total": "0 .. 9 = 0",
    }
    state = "\n".join(["state:", *(f"    {name}: {text}" for name, text in variables.items())])
    load_text(f"module m\nparam Client: set = {{a, b}}\nrecord Item: number: 0 .. 9\n{state}\n{action}")
    load_text(whole + patterns + functions + fairness)


def test_the_forms_in_tables_of_the_language_page_are_right() -> None:
    load_text(FORMS)
    load_text(STEPS)
    page = (SKILL / "language.md").read_text()
    types = page[page.index("| `bool` |") : page.index("\nAlso: ")].splitlines()
    values = page[page.index("| `sum(e for") : page.index("\n\n### Patterns")].splitlines()
    cells = [row.split("|")[3] for row in types] + [row.split("|")[1] for row in values]
    also = page[page.index("Also: ") : page.index("Types nest")]
    forms = [form for cell in (*cells, also) for form in re.findall(r"`([^`]+)`", cell)]
    assert len(forms) > 50
    assert not [form for form in forms if form not in FORMS + STEPS]


def test_the_forms_in_sentences_of_the_language_page_are_right() -> None:
    load_text(FORMS_IN_SENTENCES)
    page = " ".join((SKILL / "language.md").read_text().split())
    idiom = "pick m in (if S == {} then {none} else {some(c) for c in S})"
    for form in (idiom, "table[c][d] := 1", "[r -> [s -> 0]]", "if S == {} then none else min("):
        assert form in page
        assert form in FORMS_IN_SENTENCES


def test_the_words_that_are_no_names_are_all_in_the_language_page() -> None:
    page = " ".join((SKILL / "language.md").read_text().split())
    named = page[page.index("No names are `") :].split("`")[1]
    assert set(named.split()) == RESERVED - {"_", "expect"}


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
