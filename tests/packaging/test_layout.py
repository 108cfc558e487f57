"""The shape of the checkout that the architecture promises."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.links import FOLDERS, broken_links
from assay.cli.setup.doctor import DEPENDENCIES, OPTIONAL

from .sources import text_of, without_strings

CHECKOUT = Path(__file__).resolve().parents[2]
LONGEST_FUNCTION = 60
LONGEST_FILE = 500


def source_files() -> list[Path]:
    folders = [CHECKOUT / name for name in (*FOLDERS, "tests")] + [
        CHECKOUT / "src" / "assay" / name
        for name in ("agents", "api", "cli", "explorer", "record", "report", "testing")
    ]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def may_be_long(path: Path) -> bool:
    """Whether a function may be: the next one that is indented no further, or the end, is too far away."""
    lines = without_strings(text_of(path)).splitlines()
    begun = [(at, len(found[1])) for at, line in enumerate(lines) if (found := re.match(r"( *)(?:async )?def ", line))]
    ends = [next((at for at, depth in begun[n:] if depth <= mine), len(lines)) for n, (_, mine) in enumerate(begun, 1)]
    return any(end - at > LONGEST_FUNCTION for (at, _), end in zip(begun, ends, strict=True))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (
        node for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("name", FOLDERS)
def test_package_folder_is_a_relative_link_to_the_top(name: str) -> None:
    link = CHECKOUT / "src" / "assay" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..", "..", name)
    assert link.is_dir()


def test_links_checked_out_as_text_files_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "checker").mkdir()
    for name in set(FOLDERS) - {"checker"}:
        (tmp_path / name).write_text(f"../../{name}")
    assert broken_links(tmp_path) == [name for name in FOLDERS if name != "checker"]


def test_no_function_is_longer_than_a_screen() -> None:
    """Lines of comments do not count: nobody should save a reason to stay below the limit."""
    lengths = {
        f"{path.relative_to(CHECKOUT)}:{node.name}": lines_of_code(node, text_of(path).splitlines())
        for path in source_files()
        if may_be_long(path)
        for node in functions(path)
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def lines_of_code(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    return sum(not line.lstrip().startswith("#") for line in lines[node.lineno - 1 : node.end_lineno])


def test_no_file_is_longer_than_500_lines() -> None:
    lengths = {str(path.relative_to(CHECKOUT)): len(text_of(path).splitlines()) for path in source_files()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_doctor_looks_for_every_dependency() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(line.split(">")[0] for line in project["dependencies"]) == list(DEPENDENCIES)


def test_doctor_knows_which_extra_each_feature_needs() -> None:
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = {name: {line.split(">")[0] for line in lines} for name, lines in extras.items()}
    assert all(package in named[extra] for package, (extra, _) in OPTIONAL.items())
    assert {extra for extra, _ in OPTIONAL.values()} == {"spark", "editor", "agents", "terminal", "testing"}
