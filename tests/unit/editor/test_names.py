"""Names in a document: declarations, references, completions, and a text that is broken while it is typed."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from assay.editor.analysis import Document
from assay.editor.names import declaration, name_at, names_in, references, suggestions

MEMBERS = """\
module members
param Node: set = {n1, n2}

state:
    alive: set[Node] = {}

def is_alive(n: Node) = n in alive

action join(n: Node):
    "A node joins."
    when new: not is_alive(n)
    alive := alive + {n}
"""

CLUSTER = """\
module cluster
use members
type Epoch = 0 .. 3
enum Role: Follower, Leader(e: Epoch)

state:
    epoch: Epoch = 0
    role: map[members.Node, Role] = [n -> Follower]

action elect(n: members.Node):
    # the epoch rises
    let next_epoch = epoch + 1
    when alive: members.is_alive(n)
    bound few: epoch < 3
    epoch := next_epoch
    role[n] := Leader(next_epoch)

invariant "only one".one_leader: forall p, q in members.Node: role[p] is Leader(e) and role[q] == Leader(e) implies p == q
next: elect, members.join
""".replace('"only one".', "")


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """The cluster, analysed, beside the module that it uses."""
    (tmp_path / "members.assay").write_text(MEMBERS)
    made = Document(tmp_path / "cluster.assay")
    made.parse(CLUSTER)
    assert [each for each in made.analyse() if each.severity.value == "error"] == []
    return made


def place(text: str, part: str, of: int = 0) -> tuple[int, int]:
    """The line and column of the first character of the given occurrence of a part, counted from 1."""
    at = -1
    for _ in range(of + 1):
        at = text.index(part, at + 1)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def declared(document: Document, part: str, of: int = 0) -> tuple[str, str, int] | None:
    """The file, kind and line of what the name at an occurrence denotes."""
    name = name_at(document.text, document.file, *place(document.text, part, of))
    found = None if name is None else declaration(document, name)
    return None if found is None else (Path(found.span.file).name, found.kind, found.span.line)


@pytest.mark.parametrize(
    ("part", "of", "wanted"),
    [
        ("epoch + 1", 0, ("cluster.assay", "state variable", 7)),
        ("Leader(next", 0, ("cluster.assay", "variant", 4)),
        ("is_alive(n)", 0, ("members.assay", "function", 7)),
        ("members.is_alive", 0, ("cluster.assay", "module", 2)),
        ("next_epoch\n", 0, ("cluster.assay", "local", 12)),
        ("n)\n    bound", 0, ("cluster.assay", "local", 10)),
        ("p == q", 0, ("cluster.assay", "local", 18)),
        ("one_leader", 0, ("cluster.assay", "invariant", 18)),
        ("elect, members", 0, ("cluster.assay", "action", 10)),
        ("join", 0, ("members.assay", "action", 9)),
        ("epoch rises", 0, None),
    ],
)
def test_a_name_leads_to_its_declaration(
    document: Document, part: str, of: int, wanted: tuple[str, str, int] | None
) -> None:
    assert declared(document, part, of) == wanted


@pytest.mark.parametrize(
    ("part", "behind", "path"),
    [
        ("members.is_alive", 0, ("members",)),
        ("members.is_alive", 7, ("members",)),
        ("members.is_alive", 8, ("members", "is_alive")),
        ("members.is_alive", 16, ("members", "is_alive")),
        ("members.is_alive", 17, ("n",)),
        ("bound few", 5, ("bound",)),
    ],
)
def test_a_name_reaches_to_the_cursor_behind_its_last_letter(
    document: Document, part: str, behind: int, path: tuple[str, ...]
) -> None:
    line, column = place(CLUSTER, part)
    name = name_at(document.text, document.file, line, column + behind)
    assert name is not None
    assert name.path == path


def test_references_are_found_in_used_modules_and_not_in_strings(document: Document) -> None:
    name = name_at(document.text, document.file, *place(CLUSTER, "is_alive"))
    assert name is not None
    found = [(Path(span.file).name, span.line) for span in references(document, name)]
    assert sorted(found) == [("cluster.assay", 13), ("members.assay", 7), ("members.assay", 11)]


def test_references_of_a_local_stay_in_its_declaration(document: Document) -> None:
    name = name_at(document.text, document.file, *place(CLUSTER, "next_epoch"))
    assert name is not None
    assert [span.line for span in references(document, name)] == [12, 15, 16]


def test_completions_behind_a_dot_are_those_of_the_module(document: Document) -> None:
    line, column = place(CLUSTER, "is_alive(n)")
    names = {each.name: each.kind for each in suggestions(document, line, column)}
    assert names["is_alive"] == "function"
    assert names["alive"] == "state variable"
    assert "epoch" not in names
    everywhere = {each.name: each for each in suggestions(document, *place(CLUSTER, "epoch + 1"))}
    assert everywhere["epoch"].detail == "0 .. 3"
    assert {"elect", "Leader", "members", "Epoch"} <= everywhere.keys()
    # What counts stands before the cursor: in front of the dot no module is named yet.
    assert "epoch" in {each.name for each in suggestions(document, line, column - 1)}


def test_a_text_that_is_broken_at_any_character_is_answered(document: Document) -> None:
    for cut in range(0, len(CLUSTER), 29):
        for text in (CLUSTER[:cut], CLUSTER[:cut] + CLUSTER[cut + 1 :], CLUSTER[:cut] + "(" + CLUSTER[cut:]):
            document.parse(text)
            document.analyse()
            for name in names_in(text, document.file):
                declaration(document, name)
            suggestions(document, *place(text + "!", "!"))


def test_a_broken_text_keeps_the_names_of_the_last_good_one(document: Document) -> None:
    document.parse(CLUSTER + "action unfinished(\n")
    assert document.analyse()
    assert declared(document, "is_alive(n)") == ("members.assay", "function", 7)


def test_formatting_leaves_a_text_with_mistakes_alone(document: Document) -> None:
    document.parse("module x\nstate:\n  a: int=0\n")
    assert document.formatted() == "module x\n\nstate:\n    a: int = 0\n"
    document.parse("module x\nstate:\n  a: int=\n")
    assert document.formatted() is None


def test_mistakes_in_an_edited_body_are_found_before_the_pause(tmp_path: Path) -> None:
    document = Document(tmp_path / "members.assay")
    document.parse(MEMBERS)
    assert document.analyse() == ()
    found = document.parse(MEMBERS.replace("alive + {n}", "alive + {m}"))
    assert [(each.code, each.span.line) for each in found] == [("E101", 12)]
    assert document.parse(MEMBERS.replace("alive + {n}", "{n} + alive")) == ()


@pytest.mark.parametrize(
    ("edit", "codes"),
    [
        ((("is_alive", "lives"), ("alive + {n}", "alive + {m}")), ["E101"]),
        ((("def is_alive(n: Node) = n in alive", "def is_alive(n: Node) = {n}"),), ["E201"]),
        ((("alive: set[Node] = {}", "alive: seq[Node, max 2] = []"),), ["E202"]),
        ((("alive: set[Node] = {}", "alive: set[Node] = {}\n    alive: bool = true"),), ["E301", "E201"]),
        ((("action join(n: Node):", "type Alike = Alike\n\naction join(n: Node):"),), ["E305"]),
    ],
)
def test_what_an_edit_breaks_elsewhere_is_found_after_the_key(
    tmp_path: Path, edit: tuple[tuple[str, str], ...], codes: list[str]
) -> None:
    document = Document(tmp_path / "members.assay")
    document.parse(MEMBERS)
    document.analyse()
    text = MEMBERS
    for old, new in edit:
        text = text.replace(old, new)
    assert [each.code for each in document.parse(text, budget=inf)] == codes
    typed = document.diagnostics
    assert typed == document.analyse()


def test_a_broken_declaration_counts_as_it_was(document: Document) -> None:
    broken = CLUSTER.replace("type Epoch = 0 .. 3", "type Epoch = 0 ..").replace("epoch := next_epoch", "epoch := nexd")
    assert [each.code for each in document.parse(broken, budget=inf)] == ["E001", "E101"]


def test_lines_above_move_what_is_below(document: Document) -> None:
    longer = CLUSTER.replace("type Epoch", "# one\n\ntype Epoch").replace("role[n] := Leader", "role[n] := Leaded")
    (found,) = document.parse(longer, budget=inf)
    assert longer.split("\n")[found.span.line - 1].strip() == "role[n] := Leaded(next_epoch)"
