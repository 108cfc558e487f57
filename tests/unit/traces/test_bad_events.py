"""What is wrong with events, or with what a clause says of them, is told with its place; it is never a wrong verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.report.logs.first_screen import first_screen
from assay.traces.result import TraceVerdict

SPEC = """module shop
param Order: set = {o1, o2}
type Count = 0 .. 9
state:
    placed: map[Order, bool] = [o -> false]
action place(o: Order, n: Count):
    when fresh: not placed[o]
    placed[o] := true
action pay(o: Order):
    when there: placed[o]
    placed[o] := false
trace log:
    from events
    on Placed(order: Order, n: Count): place(order, n)
    on Paid(order: Order): pay(order)
    order: file
"""
LOG = (
    {"event": "Placed", "time": 1_000_000, "order": "x", "n": 1},
    {"event": "Paid", "time": 1_000_001, "order": "x"},
)


def asked(folder: Path, text: str, spec: str = SPEC) -> assay.LogAnswer:
    (folder / "shop.assay").write_text(spec, encoding="utf-8")
    (folder / "log.jsonl").write_text(text, encoding="utf-8")
    return assay.validate(str(folder / "log.jsonl"), str(folder / "shop.assay"))


def lines(*entries: object) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def test_a_log_none_of_whose_names_the_clause_has_is_told_what_was_meant(tmp_path: Path) -> None:
    found = asked(tmp_path, lines(*({**entry, "event": str(entry["event"]).lower()} for entry in LOG)))
    assert found.verdict is TraceVerdict.VACUOUS
    assert "none of the 2 events is called `Paid` or `Placed`" in str(found)
    assert "they are called `paid` (1), `placed` (1) (did you mean `Paid` for `paid`?)" in str(found)
    assert "brokers" not in str(found)


def test_a_misspelt_name_is_told_with_its_place(tmp_path: Path) -> None:
    found = asked(tmp_path, lines(*LOG, {**LOG[0], "event": "Plased"}))
    assert "Plased: no rule of the trace clause speaks of it; did you mean `Placed`?  (first at" in str(found)


def test_lines_without_the_key_of_the_name_are_told_their_keys(tmp_path: Path) -> None:
    found = asked(tmp_path, lines({"kind": "Placed", "data": {"order": "x"}}))
    assert found.verdict is TraceVerdict.VACUOUS
    assert "its lines have no `event`" in str(found)
    assert "the first has `kind`, `data.order`" in str(found)


def test_a_row_with_more_cells_than_columns_is_no_event(tmp_path: Path) -> None:
    found = asked(tmp_path, "event,order,n,price\nPlaced,x,1,7\nPlaced,y,1,3,50\n")
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert "log.jsonl:3: 1 line: the row has 5 cells, and the head of the table names 4" in str(found)
    text = "\n".join(line.text for line in first_screen(found.validation, found.overview))
    assert "next: add what is missing below" in text  # no logs of brokers


def test_values_of_fields_are_shown_as_the_language_writes_them_and_long_ones_are_cut(tmp_path: Path) -> None:
    again = {**LOG[0], "more": {"a": {"b": None}, "c": 1}, "list": [{"a": 1}], "long": "x" * 500}
    found = str(asked(tmp_path, lines(LOG[0], again)))
    read_as = next(line for line in found.splitlines() if line.startswith("   read as"))
    assert "more = {a: {b: none}, c: 1}, list = ({a: 1}), long = " in read_as
    assert "x" * 120 + "…" in read_as


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "is null"), ([1], "is [1]"), ({"a": 1}, 'is {"a": 1}'), (True, "is true"), ("two", 'is "two"')],
)
def test_a_value_of_another_type_is_told_as_it_is_written(tmp_path: Path, value: object, said: str) -> None:
    found = asked(tmp_path, lines(*LOG, {**LOG[0], "n": value}))
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert f"log.jsonl:3: Placed: its `n` cannot be read: {said}, which is no 0 .. 9" in str(found)


def test_a_document_that_ends_too_early_may_have_held_more_events(tmp_path: Path) -> None:
    whole = json.dumps([*LOG, {**LOG[0], "order": "y"}])
    assert asked(tmp_path, whole).verdict is TraceVerdict.CONSISTENT
    cut = asked(tmp_path, whole[:-20])
    assert cut.verdict is TraceVerdict.INCONCLUSIVE
    assert "the JSON document is not complete" in str(cut)


def test_times_that_go_back_are_told(tmp_path: Path) -> None:
    found = asked(tmp_path, lines(LOG[0], {**LOG[1], "time": 900_000}))
    assert found.verdict is TraceVerdict.CONSISTENT
    assert "times go back in 1 line" in str(found)
    assert "log.jsonl:2, by 100 s" in str(found)


def test_a_span_that_was_not_read_may_be_why_another_has_no_explanation(tmp_path: Path) -> None:
    write = {"name": "write", "start": 1, "end": 5, "value": 3}
    read = {"name": "read", "start": 6, "end": 9, "value": 3}
    path = tmp_path / "spans.jsonl"
    for start, verdict in ((1, TraceVerdict.CONSISTENT), (8, TraceVerdict.INCONCLUSIVE)):
        path.write_text(lines({**write, "start": start}, read), encoding="utf-8")
        assert assay.validate(str(path), "objects/register", clause="spans").verdict is verdict


def test_a_line_that_was_not_read_behind_a_contradiction_excuses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    read = {"process": 0, "f": "read", "value": 7}
    path.write_text(lines({**read, "type": "invoke"}, {**read, "type": "ok"}) + '{"process": 1, "ty', encoding="utf-8")
    assert assay.validate(str(path), "objects/register", clause="jepsen").verdict is TraceVerdict.INCONSISTENT


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ('time = "time" in "%Q"', "'Q' is a bad directive"),
        ('time = "time" in "%H:%"', "stray %"),
        ('time = "time" in "%H:%H"', "names one part of a time twice"),
        ('zone = "+99:00"', "no zone is called `+99:00`"),
        ('zone = ""', "a key is a text"),
    ],
)
def test_formats_and_zones_that_are_none_are_told_where_they_stand(tmp_path: Path, said: str, error: str) -> None:
    with pytest.raises(assay.InputError) as raised:
        asked(tmp_path, lines(*LOG), SPEC.replace("from events\n", f"from events:\n        {said}\n"))
    (diagnostic,) = raised.value.diagnostics
    assert error in diagnostic.message
    assert (diagnostic.code, diagnostic.span.line) == ("E517", 14)


@pytest.mark.parametrize(
    ("table", "line", "error"),
    [
        ("[[shape]]\nkind = \"Placed\"\npattern = '(?P<order>'\nexample = 'x'\n", 3, "no regular expression"),
        ("[[shape\n", 3, "cannot be read"),
        ("[[shape]]\nkind = \"Placed\"\npattern = '.*'\nexample = 'x'\n", 4, "describes any line"),
    ],
)
def test_mistakes_in_a_pattern_file_are_told_where_they_stand(
    tmp_path: Path, table: str, line: int, error: str
) -> None:
    (tmp_path / "shop.toml").write_text(f"\n\n{table}", encoding="utf-8")
    with pytest.raises(assay.InputError) as raised:
        asked(tmp_path, "placed x\n", SPEC.replace("from events", 'from text "shop.toml"'))
    (diagnostic,) = raised.value.diagnostics
    assert error in diagnostic.message
    assert diagnostic.span.line == line


def test_a_clause_without_a_rule_says_so(tmp_path: Path) -> None:
    without = "".join(line for line in SPEC.splitlines(keepends=True) if not line.startswith("    on "))
    found = asked(tmp_path, lines(*LOG), without)
    assert found.verdict is TraceVerdict.VACUOUS
    assert "the clause has no rule; events are called `Paid` (1), `Placed` (1)" in str(found)
