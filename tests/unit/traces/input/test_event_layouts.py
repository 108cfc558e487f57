"""One log of events in each layout in which such logs come gives the same events and the same verdict."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event
from assay.traces.log_reader import LogReading, ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.patterns.container import Container
from assay.traces.patterns.container_files import built_in_containers
from assay.traces.result import TraceVerdict
from assay.traces.scoped_validate import validate_in_scope

Row = tuple[int, str, str, dict[str, Any]]
START = 1_795_255_200_100
RIGHT: list[Row] = [
    (START, "n1", "Elected", {"term": 1, "by": "n2"}),
    (START + 1_000, "n2", "Elected", {"term": 2, "by": "n1"}),
    (START + 2_000, "n1", "Heard", {"term": 2, "by": "n2"}),
]
WRONG: list[Row] = [*RIGHT[:2], (START + 2_000, "n1", "Heard", {"term": 1, "by": "n2"})]

SPEC = (
    """
module m
param Node: set = {a, b}
type Term = 0 .. 3
state:
    term: Term = 0
    leader: Node? = none
action elect(n: Node, t: Term):
    when higher: t > term
    term := t
    leader := n
trace log:
    from events
    on Elected(node: Node, term: Term): elect(node, term)
    on Heard(by: Node, term: Term): observe leader == by and term == term_of
    order: lines
""".replace("term == term_of", "term == top")
    .replace("    term: Term = 0\n", "    top: Term = 0\n")
    .replace("t > term\n    term := t", "t > top\n    top := t")
)


def iso(time: int) -> str:
    return datetime.fromtimestamp(time / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def object_of(row: Row) -> dict[str, Any]:
    time, node, event, fields = row
    return {"event": event, "time": iso(time), "node": node, **fields}


def json_lines(rows: list[Row]) -> str:
    return "".join(json.dumps(object_of(row)) + "\n" for row in rows)


def behind(prefix: Callable[[Row], str]) -> Callable[[list[Row]], str]:
    return lambda rows: "".join(prefix(row) + json.dumps(object_of(row)) + "\n" for row in rows)


def table(rows: list[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["time", "node", "event", "term", "by"], delimiter=";")
    writer.writeheader()
    writer.writerows(map(object_of, rows))
    return out.getvalue()


def logfmt(rows: list[Row]) -> str:
    return "".join(
        " ".join(f"{key}={value}" for key, value in object_of(row).items()) + ' msg="all is well"\n' for row in rows
    )


def any_value(value: object) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def attributes(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in fields.items()]


def otlp_span(row: Row) -> dict[str, Any]:
    time, node, event, fields = row
    span = {
        "traceId": "a",
        "spanId": "b",
        "name": event,
        "startTimeUnixNano": f"{time}000000",
        "endTimeUnixNano": f"{time + 5}000000",
    }
    return {
        "resource": {"attributes": attributes({"service.name": node})},
        "scopeSpans": [{"scope": {"name": "own"}, "spans": [{**span, "attributes": attributes(fields)}]}],
    }


def otlp_record(row: Row) -> dict[str, Any]:
    time, node, event, fields = row
    record = {
        "timeUnixNano": f"{time}000000",
        "severityText": "INFO",
        "eventName": event,
        "attributes": attributes(fields),
    }
    return {"resource": {"attributes": attributes({"host.name": node})}, "scopeLogs": [{"logRecords": [record]}]}


def jaeger(rows: list[Row]) -> str:
    spans = [
        {"traceID": "a", "spanID": "b", "operationName": event, "startTime": time * 1000, "duration": 5, "processID": node,
         "tags": [{"key": key, "type": "int64", "value": value} for key, value in fields.items()]}
        for time, node, event, fields in rows
    ]  # fmt: skip
    processes = {node: {"serviceName": node, "tags": []} for _, node, _, _ in rows}
    return json.dumps({"data": [{"traceID": "a", "spans": spans, "processes": processes}]}, indent=1)


def zipkin(rows: list[Row]) -> str:
    return json.dumps(
        [
            {
                "traceId": "a",
                "id": "b",
                "name": event,
                "timestamp": time * 1000,
                "duration": 5,
                "localEndpoint": {"serviceName": node},
                "tags": {key: str(value) for key, value in fields.items()},
            }
            for time, node, event, fields in rows
        ]
    )


def journal(rows: list[Row]) -> str:
    return "".join(
        f"__REALTIME_TIMESTAMP={row[0]}000\n_HOSTNAME=h\nMESSAGE={json.dumps(object_of(row))}\n\n" for row in rows
    )


LAYOUTS: dict[str, Callable[[list[Row]], str]] = {
    "JSON lines": json_lines,
    "after a banner": lambda rows: "starting up\n" + json_lines(rows),
    "JSON array": lambda rows: json.dumps([object_of(row) for row in rows]),
    "JSON array on many lines": lambda rows: json.dumps([object_of(row) for row in rows], indent=2),
    "CSV": table,
    "logfmt": logfmt,
    "OTLP spans": lambda rows: json.dumps({"resourceSpans": [otlp_span(row) for row in rows]}),
    "OTLP spans, a batch a line": lambda rows: "".join(
        json.dumps({"resourceSpans": [otlp_span(row)]}) + "\n" for row in rows
    ),
    "OTLP log records": lambda rows: json.dumps({"resourceLogs": [otlp_record(row) for row in rows]}, indent=1),
    "Jaeger": jaeger,
    "Zipkin": zipkin,
    "journalctl -o export": journal,
    "docker compose": behind(lambda _: "app-1  | "),
    "docker json-file": lambda rows: "".join(
        json.dumps({"log": json.dumps(object_of(row)) + "\n", "stream": "stdout", "time": iso(row[0])}) + "\n"
        for row in rows
    ),
    "CRI": behind(lambda row: f"{iso(row[0])} stdout F "),
    "syslog": behind(lambda row: f"<134>1 {iso(row[0])} host app 17 - - "),
    "kubectl": behind(lambda _: "[pod/app-1/main] "),
    "stern, logfmt": lambda rows: "".join(f"app-1 main {line}\n" for line in logfmt(rows).splitlines()),
}


def read(folder: Path, name: str, text: str, loaded: Loaded) -> LogReading:
    file = folder / f"{name.replace(' ', '-')}.log"
    file.write_text(text)
    return read_logs([file], ReadOptions(source=source_of(loaded, None)))


def statement_of(event: Event) -> tuple[object, ...]:
    fields = event.fields
    return event.kind, event.fields["node"], event.record.time, fields["term"], fields["by"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_gives_the_same_events_and_verdict(tmp_path: Path, layout: str) -> None:
    loaded = load_text(SPEC)
    for rows, verdict in ((RIGHT, TraceVerdict.CONSISTENT), (WRONG, TraceVerdict.INCONSISTENT)):
        reading = read(tmp_path, layout, LAYOUTS[layout](rows), loaded)
        assert sorted(map(statement_of, reading.events), key=str) == sorted(
            [(event, node, time, fields["term"], fields["by"]) for time, node, event, fields in rows], key=str
        )
        assert validate_in_scope(loaded, reading, DEFAULT_OPTIONS).verdict is verdict
        if layout not in {"JSON lines", "after a banner"}:
            assert [each.kind for each in reading.notices] == ["layout"]


@pytest.mark.parametrize(
    "entry", [each for each in built_in_containers().entries if each.event], ids=lambda each: each.name
)
def test_the_example_of_a_document_of_events_is_recognised(tmp_path: Path, entry: Container) -> None:
    reading = read(tmp_path, "example", entry.example, load_text(SPEC))
    (event,) = reading.events
    held = {"event": event.kind, "node": event.fields["node"], "time": str(event.record.time)}
    assert held == entry.holds
    assert str(event.fields["term"]) == "3"
    (notice,) = [each for each in reading.notices if each.kind == "layout"]
    assert notice.text == entry.name


@pytest.mark.parametrize("layout", ["docker compose", "CRI", "JSON array"])
def test_half_an_event_at_the_end_is_told(tmp_path: Path, layout: str) -> None:
    reading = read(tmp_path, layout, LAYOUTS[layout](RIGHT).rstrip()[:-20], load_text(SPEC))
    assert {each.kind for each in reading.notices} & {"not an event", "end cut off"}
    assert len(list(reading.events)) == len(RIGHT) - 1
