"""Log files as exports write them: each file of a recording in another container, with the node that it names."""

from __future__ import annotations

import calendar
import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from .rewriting import LAYOUTS, Record, records

Export = Callable[[str, Sequence[Record]], str | bytes]
"""Makes a file of the name of a node and its records."""

SEVERITIES = {"INFO": 6, "WARN": 4, "ERROR": 3, "FATAL": 2}


def texts(of: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """The records in the stock layout."""
    return ((record, LAYOUTS["stock"](record)) for record in of)


def lines(of: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """The lines of the records, each with its record."""
    return ((record, line) for record, text in texts(of) for line in text.split("\n"))


def milliseconds(record: Record) -> int:
    """The time of a record, since 1970."""
    return calendar.timegm(time.strptime(record.second, "%Y-%m-%d %H:%M:%S")) * 1000 + int(record.stamp[20:])


def table(head: list[str], row: Callable[[str, Record, str], list[str]]) -> Export:
    """A CSV file with that head."""

    def make(node: str, of: Sequence[Record]) -> str:
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(head)
        writer.writerows(row(node, record, text) for record, text in texts(of))
        return out.getvalue()

    return make


def wrapped(node: str, of: Sequence[Record]) -> str:
    """The lines cut at column 100."""
    return "".join(line[at : at + 100] + "\n" for _, line in lines(of) for at in range(0, max(1, len(line)), 100))


def gelf(node: str, of: Sequence[Record]) -> str:
    """GELF, as the appender of log4j writes it."""
    said = (
        {
            "version": "1.1",
            "host": node,
            "short_message": record.message,
            "timestamp": milliseconds(record) / 1000,
            "level": SEVERITIES.get(record.level, 7),
            "_logger": record.logger,
        }
        for record in of
    )
    return "".join(json.dumps(each) + "\n" for each in said)


def xml(node: str, of: Sequence[Record]) -> str:
    """log4j 2's XmlLayout; stack traces stand in the message, as a layout without them has it."""
    events = (
        f'<Event timeMillis="{milliseconds(r)}" thread="main" level="{r.level}" loggerName="{r.logger}">\n'
        f"  <Message>{escape(r.message)}</Message>\n</Event>\n"
        for r in of
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Events>\n{"".join(events)}</Events>\n'


def verbose(node: str, of: Sequence[Record]) -> str:
    """``journalctl -o verbose``."""
    return "".join(
        f"Sat {r.second}.{r.stamp[20:]}000 UTC [s=1;i=2]\n    _TRANSPORT=stdout\n    _HOSTNAME={node}\n    MESSAGE={line}\n"
        for r, line in lines(of)
    )


def fluent_bit(node: str, of: Sequence[Record]) -> str:
    """What fluent-bit prints on its standard output."""
    said = ((milliseconds(r) / 1000, line.replace("\\", "\\\\").replace('"', '\\"')) for r, line in lines(of))
    return "".join(
        f'[0] kube.{node}: [[{at:.9f}, {{}}], {{"log"=>"{line}", "stream"=>"stdout"}}]\n' for at, line in said
    )


def otlp(node: str, record: Record, text: str) -> dict[str, object]:
    """A record as OpenTelemetry's file exporter writes it."""
    said = {"timeUnixNano": f"{milliseconds(record)}000000", "body": {"stringValue": text}}
    named = [{"key": "k8s.pod.name", "value": {"stringValue": node}}]
    return {"resourceLogs": [{"resource": {"attributes": named}, "scopeLogs": [{"logRecords": [said]}]}]}


def cloud_yaml(node: str, record: Record, text: str) -> str:
    """An entry as ``gcloud logging read`` prints it."""
    labels = f"resource:\n  labels:\n    container_name: kafka\n    pod_name: {node}\n  type: k8s_container\n"
    indented = "\n".join(f"  {line}" if line else line for line in text.split("\n"))
    return f"---\ninsertId: a\n{labels}textPayload: |-\n{indented}\ntimestamp: '{record.iso}Z'\n"


def rows(of: Sequence[Record], node: str) -> list[list[str]]:
    """Time, node and text of each record."""
    return [[f"{r.iso}Z", node, text] for r, text in texts(of)]


MORE: dict[str, Export] = {
    "fluent-bit, standard output": fluent_bit,
    "Vector": lambda node, of: "".join(
        json.dumps({"kubernetes": {"pod_name": node}, "message": line, "stream": "stdout", "timestamp": f"{r.iso}Z"})
        + "\n"
        for r, line in lines(of)
    ),
    "docker json-file": lambda node, of: "".join(
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": f"{r.iso}000000Z"}) + "\n" for r, line in lines(of)
    ),
    "Graylog CSV": table(["timestamp", "source", "message"], lambda node, r, text: [f"{r.iso}Z", node, text]),
    "Sumo Logic CSV": table(["_messagetime", "_raw", "_sourcehost"], lambda node, r, text: [r.stamp, text, node]),
    "CSV with columns of one's own": table(["When", "Pod", "What"], lambda node, r, text: [r.iso, node, text]),
    "Azure Log Analytics JSON": lambda node, of: json.dumps(
        {
            "tables": [
                {
                    "columns": [{"name": "TimeGenerated"}, {"name": "PodName"}, {"name": "LogMessage"}],
                    "rows": rows(of, node),
                }
            ]
        }
    ),
    "New Relic NerdGraph": lambda node, of: json.dumps(
        {
            "data": {
                "actor": {
                    "nrql": {
                        "results": [
                            {"timestamp": milliseconds(r), "message": text, "pod_name": node} for r, text in texts(of)
                        ]
                    }
                }
            }
        }
    ),
    "Dynatrace": lambda node, of: json.dumps(
        {"results": [{"timestamp": f"{r.iso}Z", "content": text, "host.name": node} for r, text in texts(of)]}
    ),
    "OpenSearch SQL": lambda node, of: json.dumps(
        {"schema": [{"name": "@timestamp"}, {"name": "host"}, {"name": "message"}], "datarows": rows(of, node)}
    ),
    "journalctl -o verbose": verbose,
    "rsyslog with control characters": lambda node, of: "".join(
        f"{r.month_and_day} {node} kafka: {text.replace(chr(9), '#011').replace(chr(10), '#012')}\n"
        for r, text in texts(of)
    ),
    "kubetail": lambda node, of: "".join(f"[{node} kafka] {line}\n" for _, line in lines(of)),
    "kail": lambda node, of: "".join(f"kafka/{node}[kafka]: {line}\n" for _, line in lines(of)),
    "pdsh": lambda node, of: "".join(f"{node}: {line}\n" for _, line in lines(of)),
    "a platform's log router": lambda node, of: "".join(
        f"{r.iso}000+00:00 app[{node}]: {line}\n" for r, line in lines(of)
    ),
    "tail -f": lambda node, of: f"==> /logs/{node}/server.log <==\n" + "".join(f"{text}\n" for _, text in texts(of)),
    "web page": lambda node, of: (
        f"<pre>\n{escape(''.join(f'{text}{chr(10)}' for _, text in texts(of)), {chr(34): '&quot;'})}</pre>\n"
    ),
    "log4j 2, XML": xml,
    "objects with names of one's own": lambda node, of: "".join(
        json.dumps(
            {
                "ts": milliseconds(r) / 1000,
                "sev": r.level,
                "category": r.logger,
                "body": r.message,
                "trace": r.tail,
                "instance": node,
            }
        )
        + "\n"
        for r in of
    ),
    "an array of objects with names of one's own": lambda node, of: json.dumps(
        [{"when": f"{r.iso}Z", "machine": node, "entry": text} for r, text in texts(of)]
    ),
    "objects in texts of objects": lambda node, of: json.dumps(
        [{"dt": f"{r.iso}Z", "raw": json.dumps({"message": text, "host": node})} for r, text in texts(of)]
    ),
    "Sumo Logic JSON": lambda node, of: json.dumps(
        {
            "messages": [
                {"map": {"_messagetime": str(milliseconds(r)), "_raw": t, "_sourcehost": node}} for r, t in texts(of)
            ]
        }
    ),
    "kcat": lambda node, of: "".join(
        json.dumps({"topic": "logs", "offset": 1, "ts": milliseconds(r), "key": node, "payload": text}) + "\n"
        for r, text in texts(of)
    ),
    "LogScale": lambda node, of: "".join(
        json.dumps({"@id": "a_1", "@timestamp": milliseconds(r), "@rawstring": text, "host": node}) + "\n"
        for r, text in texts(of)
    ),
    "syslog-ng JSON": lambda node, of: "".join(
        json.dumps({"PROGRAM": "kafka", "MESSAGE": line, "HOST": node, "ISODATE": f"{r.iso}Z"}) + "\n"
        for r, line in lines(of)
    ),
    "OTLP": lambda node, of: "".join(json.dumps(otlp(node, r, text)) + "\n" for r, text in texts(of)),
    "Azure, CSV": table(
        ["TimeGenerated [UTC]", "Computer", "Name", "LogEntry"], lambda node, r, text: [r.iso, "aks-1", node, text]
    ),
    "CSV with semicolons": lambda node, of: (
        "Zeit;Knoten;Meldung\r\n"
        + "".join(f'{r.stamp};{node};"{text.replace(chr(34), 2 * chr(34))}"\r\n' for r, text in texts(of))
    ),
    "Grafana's explorer, CSV": table(
        ["labels", "Time", "Line", "tsNs", "labelTypes", "id"],
        lambda node, r, text: [
            json.dumps({"container": "kafka", "pod": node}),
            str(milliseconds(r)),
            text,
            f"{milliseconds(r)}000000",
            "{}",
            f"{milliseconds(r)}_1",
        ],
    ),
    "a spreadsheet, CSV": table(
        ["Time", "Host", "Level", "Logger", "Message"],
        lambda node, r, text: [r.before_noon, node, r.level, r.logger, r.body()],
    ),
    "CSV with escaped line feeds": table(
        ["time", "pod", "message"],
        lambda node, r, text: [f"{r.iso}Z", node, text.replace("\n", "\\n").replace("\t", "\\t")],
    ),
    "logfmt": lambda node, of: "".join(
        f'time="{r.iso}Z" level={r.level.lower()} logger={r.logger} host={node} msg={json.dumps(r.body())}\n'
        for r in of
    ),
    "Confluent for Kubernetes": lambda node, of: "".join(
        f"[{r.level}] {r.stamp} [main] {r.logger} info - {r.body()}\n" for r in of
    ),
    "awslogs": lambda node, of: "".join(f"/ecs/kafka ecs/{node}/0123456789abcdef {text}\n" for _, text in texts(of)),
    "papertrail": lambda node, of: "".join(f"{r.month_and_day} {node} server.log: {line}\n" for r, line in lines(of)),
    "New Relic CSV": table(
        ["timestamp", "hostname", "message", "newrelic.source"],
        lambda node, r, text: [str(milliseconds(r)), node, text, "api.logs"],
    ),
    "Google Cloud YAML": lambda node, of: "".join(cloud_yaml(node, r, text) for r, text in texts(of)),
    "journalctl -o json, as bytes": lambda node, of: "".join(
        json.dumps({"MESSAGE": list(line.encode()), "_HOSTNAME": node}) + "\n" for _, line in lines(of)
    ),
    "lines of a page without line feeds": lambda node, of: (
        f"<div><pre>{'<br>'.join(escape(line) for _, line in lines(of))}</pre></div>"
    ),
    "hard spaces": lambda node, of: "".join(f"{line}\n" for _, line in lines(of)).replace(" ", "\xa0"),
    "a JSON text": lambda node, of: json.dumps("".join(f"{text}\n" for _, text in texts(of))),
    "an object for each pod": lambda node, of: json.dumps(
        {"pod": node, "logs": "".join(f"{text}\n" for _, text in texts(of))}
    ),
    "ansible, JSON": lambda node, of: json.dumps(
        {"tasks": [{"hosts": {node: {"rc": 0, "stdout_lines": [line for _, line in lines(of)]}}}]}
    ),
    "seconds since 1970": lambda node, of: "".join(
        f"{milliseconds(r) / 1000:.3f} {node} {line}\n" for r, line in lines(of)
    ),
}
"""Exports that were no part of the catalogue when they were tried: found by what their lines have in common."""

EXPORTS: dict[str, Export] = {
    "stern": lambda node, of: "".join(f"{node} kafka {line}\n" for _, line in lines(of)),
    "CRI": lambda node, of: "".join(f"{record.iso}000000Z stdout F {line}\n" for record, line in lines(of)),
    "aws logs tail": lambda node, of: "".join(f"{record.iso}000+00:00 {node} {text}\n" for record, text in texts(of)),
    "CloudWatch get-log-events": lambda node, of: json.dumps(
        {"events": [{"timestamp": milliseconds(r), "message": text, "logStreamName": node} for r, text in texts(of)]},
        indent=4,
    ),
    "Elasticsearch hits": lambda node, of: json.dumps(
        {
            "hits": {
                "hits": [
                    {"_source": {"@timestamp": r.iso + "Z", "host": {"name": node}, "message": text}}
                    for r, text in texts(of)
                ]
            }
        }
    ),
    "Loki query_range": lambda node, of: json.dumps(
        {
            "data": {
                "result": [
                    {"stream": {"pod": node}, "values": [[f"{milliseconds(r)}000000", text] for r, text in texts(of)]}
                ]
            }
        }
    ),
    "Google Cloud array": lambda node, of: json.dumps(
        [
            {"textPayload": text, "timestamp": r.iso + "Z", "resource": {"labels": {"pod_name": node}}}
            for r, text in texts(of)
        ],
        indent=2,
    ),
    "CloudWatch Insights CSV": table(
        ["@timestamp", "@message", "@logStream"], lambda node, r, text: [r.stamp.replace(",", "."), text, node]
    ),
    "Splunk CSV": table(["_raw", "_time", "host"], lambda node, r, text: [text, f"{r.iso}+0000", node]),
    "journalctl -o export": lambda node, of: "".join(
        f"__REALTIME_TIMESTAMP={milliseconds(r)}000\n_HOSTNAME={node}\nMESSAGE={line}\n\n" for r, line in lines(of)
    ),
    "quoted": lambda node, of: "".join(f"> {line}\n" for _, line in lines(of)),
    "wrapped at column 100": wrapped,
    "GELF": gelf,
    "UTF-16": lambda node, of: "".join(f"{text}\n" for _, text in texts(of)).encode("utf-16"),
    **MORE,
}
"""Exports by name."""


def export_folder(source: Path, target: Path, export: Export) -> None:
    """All logs below a folder as an export, in the same directories."""
    for path in sorted(source.rglob("*.log")):
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        data = export(path.parent.name, list(records(path.read_bytes())))
        to.write_bytes(data if isinstance(data, bytes) else data.encode())
