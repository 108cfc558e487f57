"""Each container of the catalogue is recognised by its example, and what the example holds is found in it."""

from __future__ import annotations

import io
import json
import textwrap
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.traces.input.containers.command_output import logged
from assay.traces.input.containers.detect import ContainerDetector, Wrapping
from assay.traces.input.containers.encodings import PageStream
from assay.traces.input.containers.parts import LineOrigin, PartLines
from assay.traces.input.containers.unwrapper import Unwrapper
from assay.traces.input.events.decoder import EventDecoder
from assay.traces.input.lines.moments import timestamp
from assay.traces.input.lines.record_scanner import FileCounts, ScanLimits
from assay.traces.input.pattern_matcher import FoundEvents
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.container import Container, ContainerForm
from assay.traces.patterns.container_files import built_in_containers
from assay.traces.store.record_block import RawRecord, RecordBlock

ENTRIES = built_in_containers().entries
LINE = "[2022-02-03 10:00:00,100] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)"
OTHER = "[2022-02-03 10:00:01,100] INFO [KafkaServer id=5] started (kafka.server.KafkaServer)"


def text_of(page: bytes, block: int = 1 << 20) -> bytes:
    stream = PageStream(io.BytesIO(page))
    return b"".join(iter(lambda: stream.read(block), b""))


def unwrapped(data: bytes) -> tuple[tuple[str, ...], list[tuple[LineOrigin, bytes]]]:
    """The names of the containers around the lines of a file, and its records, each with whose it is."""
    detector = ContainerDetector(built_in_containers(), EventDecoder().names_event)
    wrapping = detector.find(data)
    assert wrapping is not None
    names: tuple[str, ...] = ()
    if wrapping.markup:
        names, data = wrapping.names, text_of(data)
        wrapping = detector.find(data, of_page=True) or Wrapping(())
    found: list[tuple[LineOrigin, bytes]] = []
    limits, counts = ScanLimits(), FileCounts()

    def new_part(origin: LineOrigin) -> PartLines:
        def take(records: list[RawRecord | RecordBlock]) -> None:
            for record in records:
                whole = (
                    [record] if isinstance(record, RawRecord) else [record.raw(at) for at in range(len(record.bodies))]
                )
                found.extend((origin, b"[" + each.stamp + b"] " + each.level + b" " + each.text) for each in whole)

        return PartLines("file", counts, limits, take, wrapping.wrap)

    events = FoundEvents(every_line=False)
    Unwrapper(detector, wrapping, "file", counts, limits, new_part, events).read(io.BytesIO(data))
    assert not events.by_part
    return (*names, *wrapping.names), found


@pytest.mark.parametrize(
    "entry",
    [each for each in ENTRIES if each.form is not ContainerForm.OUTPUT and not each.event],
    ids=lambda each: each.name,
)
def test_an_example_is_recognised_and_its_line_is_found(entry: Container) -> None:
    names, found = unwrapped(entry.example.encode() + b"\n")
    origin, text = found[0]
    assert names[0] == entry.name
    assert text.rstrip().decode() in {entry.holds.get("text", LINE), LINE}
    parts = {"node": origin.who, "role": origin.role, "run": origin.run, "path": origin.path}
    assert {name: parts[name] for name in entry.holds if name in parts} == {
        name: value for name, value in entry.holds.items() if name in parts
    }


@pytest.mark.parametrize(
    "entry", [each for each in ENTRIES if each.form is ContainerForm.OUTPUT], ids=lambda each: each.name
)
def test_the_output_of_a_command_is_named_and_what_it_states_is_told(entry: Container) -> None:
    data = entry.example.encode()
    found = ContainerDetector(built_in_containers(), EventDecoder().names_event).output(data)
    assert found is not None
    assert found.name == entry.name
    assert entry.holds.get("text", "") in logged(found, data)


def read(folder: Path, text: str | bytes, name: str = "given.txt") -> LogReading:
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_logs([folder])


@pytest.mark.parametrize("width", [50, 60, 72])
def test_lines_wrapped_at_a_column_are_joined(width: int, tmp_path: Path) -> None:
    lines = [LINE, OTHER] * 3
    pieces = [line[at : at + width] for line in lines for at in range(0, len(line), width)]
    reading = read(tmp_path, "\n".join(pieces) + "\n")
    assert reading.kinds == {"BrokerStarted": 6}
    places = sorted(event.record.place.line for event in reading.events)
    assert places[0] == 1
    assert places[1] == 1 + -(-len(LINE) // width)


def test_lines_wrapped_between_words_are_joined(tmp_path: Path) -> None:
    text = ""
    for line in [LINE, OTHER] * 3:
        row = ""
        for word in line.split(" "):
            if row and len(row) + 1 + len(word) > 60:
                text, row = f"{text}{row}\n", word
            else:
                row = f"{row} {word}" if row else word
        text += row + "\n"
    assert read(tmp_path, text).kinds == {"BrokerStarted": 6}


def test_a_word_longer_than_the_column_and_a_stack_trace_hide_no_wrapping(tmp_path: Path) -> None:
    frame = f"org.apache.{'long' * 25}.Class(Class.scala:1)"
    rows = [row for line in [LINE, OTHER] * 3 for row in textwrap.wrap(line, 60, break_on_hyphens=False)]
    text = "\n".join([*rows, "java.io.IOException: No space left", "        at", frame, ""])
    assert read(tmp_path, text).kinds == {"BrokerStarted": 6}


def test_whole_lines_with_a_stack_trace_are_not_taken_for_wrapped_ones() -> None:
    trace = "java.io.IOException: No space left on device\n\tat java.io.File.write(File.java:1)\n" * 3
    assert (
        ContainerDetector(built_in_containers(), EventDecoder().names_event).find(
            f"{LINE}\n{trace}{OTHER}\n{trace}".encode()
        )
        is None
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_text_of_windows_is_read(encoding: str, tmp_path: Path) -> None:
    reading = read(tmp_path, f"{LINE}\r\n{OTHER}\r\n".encode(encoding))
    assert reading.kinds == {"BrokerStarted": 2}


def test_a_document_that_is_cut_gives_what_is_whole_and_says_so(tmp_path: Path) -> None:
    items = ",\n".join(f'{{"message": "{line}", "podName": "p", "containerName": "c"}}' for line in [LINE, OTHER])
    reading = read(tmp_path, f"[{items}, {{"[:-20])
    assert reading.kinds == {"BrokerStarted": 1}
    assert "end cut off" in {notice.kind for notice in reading.notices}


def test_what_is_in_no_known_form_is_told_with_its_first_lines(tmp_path: Path) -> None:
    (notice,) = read(tmp_path, "first words\nsecond words\n" * 9).notices
    assert notice.kind == "not understood"
    assert "`first words` / `second words`" in notice.text


def test_a_container_of_a_user_is_tried_first(tmp_path: Path) -> None:
    more = tmp_path / "mine.toml"
    more.write_text(
        "[[container]]\nname = 'mine'\nform = 'object'\nkeys = ['payload.text', 'pod']\nmessage = ['payload.text']\n"
        "node = ['pod']\nexample = 'x'\n"
    )
    assert load_catalogue([more]).containers.of(ContainerForm.OBJECT)[0].name == "mine"


@pytest.mark.parametrize(
    ("table", "say"),
    [
        ("name = 'a'\nform = 'prefix'\nexample = 'x'\n", "have a `pattern`"),
        ("name = 'a'\nform = 'cage'\nexample = 'x'\n", "`form` is one of"),
        ("name = 'a'\nform = 'object'\nexample = 'x'\nkey = 'a'\n", "no key `key`"),
        ("name = 'a'\nform = 'prefix'\nexample = 'x'\npattern = '(a'\n", "no regular expression"),
        ("name = 'a'\nform = 'prefix'\nexample = 'x'\npattern = '(a+)+b'\n", "grows faster"),
        ("name = 'a'\nform = 'prefix'\nexample = 'x'\npattern = '(a{0,}){0,}b'\n", "grows faster"),
        ("name = 'a'\nform = 'prefix'\nexample = 'x'\npattern = '(a)?(?(1)b|c).*'\n", "cannot be judged"),
    ],
)
def test_a_container_that_cannot_be_used_is_reported(table: str, say: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f"[[container]]\n{table}")
    with pytest.raises(SpecError) as caught:
        load_catalogue([tmp_path / "mine.toml"])
    assert any(say in each.message for each in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("text", "say"),
    [
        ("noise = ['(']\n", "no regular expression"),
        ("noise = ['(a+)+b']\n", "grows faster"),
        ("noise = 3\n", "`noise` is a list of texts"),
        ("[parts]\nnode = 3\n", "`parts` is a list of texts"),
        ("levels = 3\n", "`levels` is a text"),
        ("[[container]]\nname = 'a'\nform = 'output'\nexample = 'x'\npattern = 'x'\nstates = [{}]\n", "`states` are"),
        (
            "[[container]]\nname = 'a'\nform = 'output'\nexample = 'x'\npattern = '(?u)x'\n",
            "'u' flag with a bytes pattern",
        ),
    ],
)
def test_what_else_a_pattern_file_says_of_containers_is_judged(text: str, say: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(SpecError) as caught:
        load_catalogue([tmp_path / "mine.toml"])
    assert [say in each.message for each in caught.value.diagnostics] == [True]


def test_patterns_of_noise_with_groups_and_flags_do_not_disturb_each_other(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        "noise = ['(?i)done', '(?P<x>a)b', '(?P<x>c)d', '(e)\\1', 'plain']\n", encoding="utf-8"
    )
    found = load_catalogue([tmp_path / "mine.toml"]).containers
    assert all(map(found.is_noise, (b"DONE", b"ab", b"cd", b"ee", b"plain", b"Line limit: 5")))
    assert not any(map(found.is_noise, (b"ea", b"AB", b"PLAIN")))


def test_a_users_file_that_is_called_as_a_built_in_one_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prefixes.toml").write_text("[[container]]\nname = 3\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError) as caught:
        load_catalogue([Path("prefixes.toml")])
    assert any("`form` is missing" in each.message for each in caught.value.diagnostics)


@pytest.mark.parametrize(
    "value",
    [
        *("2022-02-03T10:00:00.100Z", "2022-02-03T11:00:00.100+01:00", "2022-02-03 10:00:00,100", 1643882400100),
        *(1643882400.1, "1643882400100000000", "Feb 3, 2022 @ 10:00:00.100"),
        {"epochSecond": 1643882400, "nanoOfSecond": 100_000_000},
    ],
)
def test_a_time_of_any_form_is_a_moment_in_utc(value: object) -> None:
    assert timestamp(value).replace(" ", "T") == "2022-02-03T10:00:00.100"


@pytest.mark.parametrize("value", ["", "yesterday", True, None, -1, 1e30, {"second": 1}])
def test_what_names_no_moment_is_no_time(value: object) -> None:
    assert timestamp(value) == ""


@pytest.mark.parametrize(("numbers", "jumps"), [((1, 2, 3), 0), ((1, 2, 4), 1), ((1, 3, 2, 3), 2)])
def test_numbers_of_lines_that_jump_say_that_lines_were_left_out(
    numbers: tuple[int, ...], jumps: int, tmp_path: Path
) -> None:
    """One line too few is enough: it may be the one that would explain the next."""
    log = tmp_path / "found.txt"
    log.write_text("".join(f"logs/broker-4/server.log:{number}:{LINE}\n" for number in numbers))
    told = [each.text.partition(":")[0] for each in read_logs([log]).notices if each.kind == "lines left out"]
    assert told == [[], ["the numbers of lines jump"], ["the numbers of lines jump, 2 times"]][jumps]


CRASH = f"{OTHER}\n\tat kafka.Kafka.main(Kafka.scala)"


def in_layout(line: str) -> str:
    """Two nodes' records, one with a stack trace, each line as the template ``line`` has it."""
    texts = [(4, LINE), *((5, text) for text in CRASH.split("\n")), (4, LINE), (5, OTHER)]
    return "".join(line.format(n=n, text=text, at=number) + "\n" for number, (n, text) in enumerate(texts))


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("[broker-{n} kafka] {text}", "broker-"),
        ("kafka/broker-{n}[kafka]: {text}", "kafka/broker-"),
        ("2022-02-03T10:00:0{at}.100000+00:00 app[broker-{n}]: {text}", "broker-"),
        ("EVENTS\t3\t164388240{at}\tbroker-{n}\t{text}", "broker-"),
        ("| 10:00:0{at} |   broker-{n} | {text}   |", "broker-"),
        ('[{at}] kube.broker-{n}: [[164.{at}, {{}}], {{"log"=>"{text}", "stream"=>"stdout"}}]', "kube.broker-"),
    ],
)
def test_a_prefix_that_no_catalogue_has_is_learned_from_the_lines(line: str, node: str) -> None:
    names, found = unwrapped(in_layout(line).encode())
    assert names[0].startswith("a prefix such as")
    assert {(origin.who, text.decode().rstrip()) for origin, text in found} == {
        (f"{node}4", LINE),
        (f"{node}5", CRASH),
        (f"{node}5", OTHER),
    }


def test_words_that_did_not_differ_at_first_may_differ_later() -> None:
    head = "".join(f"[broker-4] {LINE}\n" for _ in range(500))
    assert {origin.who for origin, _ in unwrapped(f"{head}[broker-5] {OTHER}\n".encode())[1]} == {
        "broker-4",
        "broker-5",
    }


@pytest.mark.parametrize(
    "text",
    [
        f"{LINE}\nmore [2022-02-03 10:00:01,100] INFO of it\n" * 20,
        f"{LINE}\n{OTHER}\n\tat kafka.Kafka.main(Kafka.scala)\n",
        f"alice: {LINE}\nbob (at home): {OTHER}\n{LINE}\n",
    ],
)
def test_lines_that_are_not_behind_a_prefix_have_none(text: str) -> None:
    assert ContainerDetector(built_in_containers(), EventDecoder().names_event).find(text.encode()) is None


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (
            '{"tables": [{"name": "T", "columns": [{"name": "Pod"}, {"name": "Text"}], "rows": ROWS}]}',
            "tables[].rows[]",
        ),
        ('{"columns": ["Pod", "message"], "rows": ROWS}', "rows[]"),
        ('{"data": {"nrql": {"took": 3, "hits": [], "results": OBJECTS}}}', "data.nrql.results[]"),
    ],
)
def test_an_unknown_document_is_searched_for_its_lines(document: str, path: str) -> None:
    rows = [["broker-4", LINE], ["broker-5", OTHER]]
    objects = [{"pod": node, "message": text} for node, text in rows]
    text = document.replace('"Text"', '"message"').replace("ROWS", json.dumps(rows))
    names, found = unwrapped(text.replace("OBJECTS", json.dumps(objects)).encode())
    assert names == (f"JSON, lines in `{path}`",)
    assert [(origin.who, record.decode().rstrip()) for origin, record in found] == [tuple(row) for row in rows]


@pytest.mark.parametrize(
    "document",
    [
        f'{{"logStream": NaN, "logGroup": "kafka", "logEvents": [{{"id": "1", "message": "{LINE}"}}]}}',
        f'{{"logStream": "b", "logGroup": "kafka", "logEvents": [{{"id": "1", "took": NaN, "message": "{LINE}"}}]}}',
        f'{{"columns": ["took", "message"], "values": [[NaN, NaN], ["{LINE}", "{OTHER}"]]}}',
        f'{{"columns": ["took", "message"], "rows": [[NaN, "{LINE}"], [2, "{OTHER}"]]}}',
    ],
)
def test_values_that_only_some_writers_of_json_know_hide_no_line(document: str) -> None:
    _, found = unwrapped(document.encode())
    assert [text.decode().rstrip() for _, text in found] == [LINE, OTHER][: document.count("INFO")]


def test_the_column_with_the_log_lines_is_found_where_its_name_is_unknown() -> None:
    names, found = unwrapped(f'Time;Pod;Text\n10:00;broker-4;"{LINE}"\n10:01;broker-5;"{OTHER}"\n'.encode())
    assert names == ("a table with log lines in `Text`",)
    assert [origin.who for origin, _ in found] == ["broker-4", "broker-5"]


def test_a_heading_says_whose_the_lines_below_it_are() -> None:
    _, found = unwrapped(f"=== broker-4 ===\n{LINE}\n\n=== broker-5 ===\n{CRASH}\n".encode())
    assert [(origin.who, text.decode().rstrip()) for origin, text in found] == [("broker-4", LINE), ("broker-5", CRASH)]


def test_entities_and_tags_of_a_web_page_are_taken_away() -> None:
    said = '[2022-02-03 10:00:00,100] INFO a "b" -> <c> & d (kafka.server.KafkaServer)'
    escaped = said.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    names, found = unwrapped(f"<pre>{escaped}\n</pre>\n".encode())
    assert names == ("web page",)
    assert [text.decode().rstrip() for _, text in found] == [said]


def test_lines_of_a_page_are_those_that_a_reader_sees() -> None:
    cells = "<tr><td>10:00</td><td>broker-{}</td><td>{}</td></tr>"
    rows = cells.format(4, LINE) + cells.format(5, OTHER)
    head = "<table><tr><th>when</th><th>host</th><th>message</th></tr>"
    for page, nodes in (
        (f"<div><pre>{LINE}<br>{OTHER}</pre></div>", ["", ""]),
        (f"<p>{LINE}</p>\n<p>{OTHER}</p>\n", ["", ""]),
        (f"{head}{rows}</table>", ["broker-4", "broker-5"]),
        (f"{LINE}\n{OTHER}\n".replace(" ", "\xa0"), ["", ""]),
    ):
        names, found = unwrapped(page.encode())
        assert names[0] == "web page"
        assert [text.decode().rstrip() for _, text in found] == [LINE, OTHER]
        assert [origin.who for origin, _ in found] == nodes


def test_a_page_that_comes_in_blocks_is_the_same_text() -> None:
    page = f"<div>{LINE}</div><div>a &lt;b&gt;</div>\n<p>{OTHER}</p>".encode()
    for size in (1, 2, 3, 5, 17, 64, 1 << 20):
        assert text_of(page, size).decode() == f"{LINE}\na <b>\n{OTHER}\n"


def test_files_in_which_nothing_stands_around_lines_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search takes longer than the reading of a small file."""
    monkeypatch.setattr(ContainerDetector, "_find", lambda *_, **__: pytest.fail("searched"))
    detector = ContainerDetector(built_in_containers(), EventDecoder().names_event)
    assert detector.find(f"{CRASH}\n\n{LINE}\n".encode()) is None
    with pytest.raises(pytest.fail.Exception):
        detector.find(f"{LINE}\nlogs/broker-5/server.log\n{OTHER}\n".encode())


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (json.dumps(f"{LINE}\n{CRASH}\n"), "a JSON text"),
        (json.dumps({"plays": [{"hosts": {"broker-4": {"stdout": f"{LINE}\n{CRASH}"}}}]}), ""),
        (json.dumps({"out": {"lines": [LINE, *CRASH.split("\n")], "rc": 0}}), "JSON, lines in `out.lines[]`"),
        (
            json.dumps({"schema": [{"name": "Time"}, {"name": "Line"}], "values": [[1, 2], [LINE, CRASH]]}),
            "JSON, lines in `values`",
        ),
    ],
)
def test_texts_of_many_lines_and_columns_are_read_wherever_in_a_document(document: str, name: str) -> None:
    names, found = unwrapped(document.encode())
    assert not name or names == (name,)
    assert [text.decode().rstrip() for _, text in found] == [LINE, CRASH]


def test_an_object_that_is_longer_than_the_beginning_is_recognised_by_it() -> None:
    many = json.dumps({"pod": "broker-4", "logs": f"{LINE}\n" * 100})
    detector = ContainerDetector(built_in_containers(), EventDecoder().names_event)
    for end in (200, 201, 300, 1000, len(many)):
        found = detector.find(many[:end].encode())
        assert found is not None
        assert found.names == ("JSON objects of several lines",)


def test_bytes_that_journald_lists_are_a_text() -> None:
    coloured = json.dumps({"MESSAGE": list(f"\x1b[1m{LINE}".encode()), "_HOSTNAME": "broker-4", "_PID": "7"})
    [(origin, text)] = unwrapped(f"{coloured}\n".encode())[1]
    assert (origin.who, LINE in text.decode()) == ("broker-4", True)


def test_of_a_message_that_was_shortened_the_full_one_is_read() -> None:
    table = f'timestamp,source,message,full_message\n1,broker-4,[2022,"{CRASH}"\n'
    assert [text.decode().rstrip() for _, text in unwrapped(table.encode())[1]] == [CRASH]


def test_a_cell_that_is_missing_in_the_last_row_names_no_node() -> None:
    rows = "".join(f'{at},broker-4,"{LINE}",api\n' for at in range(3))
    names, found = unwrapped(f'timestamp,hostname,message,newrelic.source\n{rows}9,broker-4,"{LINE}"'.encode())
    assert names == ("a table with a head line",)
    assert {origin.who for origin, _ in found} == {"broker-4"}


def test_control_characters_that_rsyslog_writes_as_numbers_are_themselves() -> None:
    _, found = unwrapped(f"Feb  3 10:00:00 broker-5 kafka: {CRASH}\n".replace("\n\t", "#012#011").encode())
    assert [text.decode().rstrip() for _, text in found] == [CRASH]


def test_an_entry_of_journalctl_verbose_is_indented_below_its_head() -> None:
    head = "Thu 2022-02-03 10:00:00.100000 UTC [s=1;i=2]\n    _HOSTNAME=broker-{}\n    MESSAGE={}\n"
    data = head.format(4, LINE) + head.format(5, CRASH.replace("\n\t", "\n            "))
    _, found = unwrapped(data.encode())
    assert [(origin.who, text.decode().rstrip()) for origin, text in found] == [
        ("broker-4", LINE),
        ("broker-5", CRASH.replace("\t", "")),
    ]


def test_xml_that_ends_too_early_gives_the_events_before() -> None:
    event = (
        '<Event timeMillis="1643882400100" level="INFO" loggerName="kafka.A"><Message>one &amp; two</Message></Event>\n'
    )
    _, found = unwrapped(f"<Events>\n{event}{event}<Event timeMillis=".encode())
    assert [text.decode().rstrip() for _, text in found] == ["[2022-02-03T10:00:00.100] INFO one & two (kafka.A)"] * 2


TRACE = b"""\
[2026-11-21 01:45:30,705] WARN [ReplicaFetcher replicaId=1, leaderId=2] Error in response (kafka.server.ReplicaFetcherThread)
java.io.IOException: Connection to 2 was disconnected before the response was read
\tat org.apache.kafka.clients.NetworkClientUtils.sendAndReceive(NetworkClientUtils.java:100)
Caused by: org.apache.kafka.common.errors.DisconnectException
[2026-11-21 01:45:30,706] INFO KafkaConfig values:
\tadvertised.host.name = null
 (kafka.server.KafkaConfig)
"""


@pytest.mark.parametrize(
    ("head", "is_searched"), [(TRACE, False), (b"broker-1  | " + TRACE, True), (TRACE + b"==> b.log <==\n", True)]
)
def test_a_log_with_stack_traces_is_not_searched_for_what_stands_around_its_lines(
    monkeypatch: pytest.MonkeyPatch, head: bytes, *, is_searched: bool
) -> None:
    searched: list[bytes] = []

    def find(_: ContainerDetector, head: bytes, *, of_page: bool) -> None:
        searched.append(head)

    monkeypatch.setattr(ContainerDetector, "_find", find)
    detector = ContainerDetector(built_in_containers(), lambda _: False)
    assert detector.find(head) is None
    assert bool(searched) is is_searched
