"""Reading spec files: everything that can be wrong with a file is a diagnostic with a code and a place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.grammar.parsing.read_file import read_spec
from assay.grammar.parsing.spec_text import MAX_BYTES, MAX_LINE


def only(path: Path) -> Diagnostic:
    found = read_spec(path)
    assert found.text is None
    assert found.parsed is None
    (diagnostic,) = found.diagnostics
    assert diagnostic.span.file == str(path)
    assert diagnostic.span.line >= 1
    return diagnostic


def test_a_spec_is_read_and_parsed(tmp_path: Path) -> None:
    path = tmp_path / "lamp.assay"
    path.write_bytes(b"module lamp\r\nparam N: int")
    found = read_spec(path)
    assert found.diagnostics == ()
    assert found.text == "module lamp\nparam N: int"
    assert found.parsed is not None
    assert len(found.parsed.module.declarations) == 1


def test_mistakes_in_the_text_are_among_the_diagnostics(tmp_path: Path) -> None:
    path = tmp_path / "lamp.assay"
    path.write_text("param N int", encoding="utf-8")
    assert [d.code for d in read_spec(path).diagnostics] == ["E007"]


def test_a_missing_file_is_reported_with_the_name_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "controller.assay").touch()
    diagnostic = only(tmp_path / "controler.assay")
    assert diagnostic.code == "E601"
    assert "controller.assay" in diagnostic.notes[0].message


@pytest.mark.parametrize("name", ["none/none.assay", "file/below.assay", "zero\0byte.assay"])
def test_paths_that_name_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert only(tmp_path / name).code == "E601"


def test_a_name_that_is_too_long_for_the_system(tmp_path: Path) -> None:
    assert only(tmp_path / ("x" * 5000)).code == "E604"


def test_a_directory_is_reported_with_the_specs_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.assay").touch()
    diagnostic = only(tmp_path)
    assert diagnostic.code == "E602"
    assert diagnostic.notes[0].message == "it holds a.assay"


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert only(tmp_path / "pipe").code == "E604"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"module a\n\x7fELF\0", "2:5"),
        (b"module a\n  \xff", "2:3"),
        (b"\x1f\x8b\x08", "1:2"),
        ("module a".encode("utf-16"), "1:1"),
    ],
)
def test_what_is_not_text_is_reported_where_it_stops_being_text(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "binary.assay"
    path.write_bytes(content)
    diagnostic = only(path)
    assert diagnostic.code == "E603"
    assert str(diagnostic.span) == f"{path}:{place}"


def test_a_line_that_is_too_long_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "long.assay"
    path.write_text("module a\n# " + "x" * MAX_LINE, encoding="utf-8")
    diagnostic = only(path)
    assert diagnostic.code == "E605"
    assert diagnostic.span.line == 2


@pytest.mark.parametrize("line", [b"x", b"x\n"])
def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "huge.assay"
    path.write_bytes(line * (MAX_BYTES + 100))
    assert only(path).code == "E605"
