"""The walls of the product: the files of a folder, chains of imports, and names that mean one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import zip_longest
from pathlib import Path

import networkx
import pytest
from grimp import ImportGraph, build_graph

from .sources import text_of, without_strings

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "grammar": CHECKOUT / "grammar",
    "checker": CHECKOUT / "checker",
    "traces": CHECKOUT / "traces",
    "spark": CHECKOUT / "spark",
    "cli": CHECKOUT / "src" / "assay" / "cli",
    "api": CHECKOUT / "src" / "assay" / "api",
    "record": CHECKOUT / "src" / "assay" / "record",
    "testing": CHECKOUT / "src" / "assay" / "testing",
    "report": CHECKOUT / "src" / "assay" / "report",
    "agents": CHECKOUT / "src" / "assay" / "agents",
    "editor": CHECKOUT / "src" / "assay" / "editor",
    "explorer": CHECKOUT / "src" / "assay" / "explorer",
}
MOST_FILES = 15

LONGEST_CHAIN = {
    "grammar": 20,
    "checker": 20,
    "traces": 20,
    "spark": 10,
    "cli": 4,
    "agents": 3,
    "editor": 3,
    "explorer": 5,
    "api": 4,
    "record": 4,
    "testing": 4,
    "report": 8,
}
"""How many files of a package may import each other in a row.

A chain is long where files import heavy ones for a light type or constant, which then belongs into a low file.
"""

REFUSED = frozenset(
    [
        "told",
        "untold",
        "said",
        "unsaid",
        "stated",
        "unstated",
        "spoken",
        "heard",
        "asked",
        "answered",
        "wanted",
        "needed",
        "seen",
        "unseen",
        "kept",
        "held",
        "left",
        "gone",
        "done",
        "made",
        "met",
        "given",
        "taken",
        "gathered",
        "guessed",
        "supposed",
        "written",
        "thinned",
        "joined",
        "put",
        "alone",
        "apart",
        "together",
        "whole",
        "beside",
        "besides",
        "ahead",
        "behind",
        "onward",
        "away",
        "again",
        "seldom",
        "twin",
        "twins",
        "stray",
        "strays",
        "life",
        "lives",
        "reign",
        "way",
        "ways",
        "trail",
        "deed",
        "deeds",
        "mould",
        "moulds",
        "stretch",
        "crowd",
        "crew",
        "door",
        "patience",
        "approaches",
        "utils",
        "helpers",
        "common",
        "misc",
    ]
)
"""Words that are no nouns of the field: a file is named after what it holds."""


def files(package: str) -> list[Path]:
    return sorted(PACKAGES[package].rglob("*.py"))


def every_file() -> Iterator[Path]:
    return (path for package in PACKAGES for path in files(package))


def name_of(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


def test_a_folder_holds_at_most_15_files() -> None:
    counts = Counter(name_of(path.parent) for path in every_file() if path.name != "__init__.py")
    assert counts
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_a_public_class_name_means_one_thing() -> None:
    """A node of the syntax tree may be called as what becomes of it in the kernel."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in every_file():
        for name in re.findall(r"^class ([A-Z]\w*)", without_strings(text_of(path)), re.MULTILINE):
            places[name].append(name_of(path.parent))
    assert len(places) > 1000
    several = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in several.items() if where != ["grammar/kernel", "grammar/syntax"]} == {}


def test_identities_are_asked_for_where_they_are_held() -> None:
    """A dictionary from ``id(x)`` is wrong once an ``x`` has died: see ``grammar/identity_memo.py``."""
    asking = {
        name_of(path)
        for path in every_file()
        if re.search(r"\bid\b", text_of(path))  # few files; the others need no tree
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.Name) and node.id == "id" and isinstance(node.ctx, ast.Load)
    }
    assert asking == {"grammar/identity_memo.py"}


@pytest.mark.parametrize("package", ["grammar", "checker", "traces", "spark", "src/assay"])
def test_the_page_of_a_package_names_each_room(package: str) -> None:
    """A newcomer finds a file by these pages: every folder is in the page of its package."""
    page = (CHECKOUT / package / "README.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in every_file() if path.is_relative_to(CHECKOUT / package)} - {package}
    assert [room for room in sorted(rooms) if f"{room}/" not in page] == []


def test_files_are_named_after_what_they_hold() -> None:
    assert {name_of(path) for path in every_file() if REFUSED & set(path.stem.split("_"))} == set()


@cache
def graph_of_imports() -> ImportGraph:
    """Who imports whom, also inside functions; what is under ``if TYPE_CHECKING`` is never imported."""
    return build_graph("assay", exclude_type_checking_imports=True, cache_dir=None)


def imports_within(package: str) -> dict[str, set[str]]:
    """The files of a package, each with those of the package that it imports."""
    graph, top = graph_of_imports(), f"assay.{package}"
    modules = {name for name in graph.modules if name == top or name.startswith(f"{top}.")}
    return {name: graph.find_modules_directly_imported_by(name) & modules for name in modules}


def longest_chain(package: str) -> list[str]:
    """The longest row of files of a package each of which imports the next."""
    imported = imports_within(package)
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(imported).static_order():
        chains[name] = [name, *max((chains[each] for each in imported[name]), key=len, default=[])]
    return max(chains.values(), key=len)


@pytest.mark.parametrize("package", PACKAGES)
def test_chains_of_imports_are_short(package: str) -> None:
    assert len(chain := longest_chain(package)) <= LONGEST_CHAIN[package], "\n".join(chain)


MUTUAL = [{"expressions", "folds", "functions", "patterns"}]
"""Rooms of ``grammar/elaborate`` that import each other: expressions hold patterns and folds, and these expressions."""


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_import_each_other_in_one_direction(package: str) -> None:
    """A room is a folder, or a file beside folders; in a folder of rooms they are rooms, too."""
    rooms: dict[tuple[str, ...], networkx.DiGraph[str]] = defaultdict(networkx.DiGraph)
    for importer, others in imports_within(package).items():
        for imported in others:
            one, other = importer.split("."), imported.split(".")
            shared = next(at for at, (a, b) in enumerate(zip_longest(one, other)) if a != b)
            if shared < min(len(one), len(other)):
                rooms[tuple(one[:shared])].add_edge(one[shared], other[shared])
    circles = [
        each for graph in rooms.values() for each in networkx.strongly_connected_components(graph) if len(each) > 1
    ]
    assert circles == (MUTUAL if package == "grammar" else [])
