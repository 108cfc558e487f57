"""Tables of whole files that cannot be read as such."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.spark.logs.dataframe_input import inputs_of


class Table:
    """What a session would answer about a table: paths and sizes."""

    def __init__(self, *rows: tuple[str | None, int | None]) -> None:
        self._rows = [SimpleNamespace(path=path, size=size) for path, size in rows]

    def selectExpr(self, *_: str) -> Table:  # noqa: N802 - as Spark names it
        return self

    def orderBy(self, _: str) -> Table:  # noqa: N802 - as Spark names it
        return self

    def collect(self) -> Sequence[SimpleNamespace]:
        return self._rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a.log", 3), ("b.log", 2), ("b.log", 2)], "several rows have the path b.log"),
        ([("file:/a.log", 3), ("file:///a.log", 2)], "several rows have the path file:/a.log"),
        ([(None, 3), ("b.log", 2)], "a row names no file"),
        ([("a.log", None), ("b.log", 2)], "there is no content beside a.log"),
    ],
)
def test_rows_that_are_no_files_are_refused(rows: list[tuple[str | None, int | None]], message: str) -> None:
    with pytest.raises(SpecError) as problem:
        inputs_of(Table(*rows), None)  # type: ignore[arg-type]  # no session is needed
    assert [(each.code, each.message) for each in problem.value.diagnostics] == [("E845", message)]


def test_files_are_numbered_by_their_names() -> None:
    found = inputs_of(Table(("a.log", 0), ("b.log", 2)), None)  # type: ignore[arg-type]  # no session is needed
    assert [(file.number, file.path, file.listed.size) for file in found.files] == [(0, "a.log", 0), (1, "b.log", 2)]
