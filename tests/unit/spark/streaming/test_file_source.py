"""The lines by which files grow are handed out once, whatever rotation does in the meantime."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from assay.spark.streaming import file_source
from assay.spark.streaming.file_source import GrowingReader, Offset, has_grown


def lines(reader: GrowingReader, start: Offset, end: Offset) -> bytes:
    return b"".join(content for part in reader.partitions(start, end) for *_, content in reader.read(part))


def during(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Let something happen while a file is looked at for the first time."""
    look, changes = file_source._last_line_feed, [change]

    def changed(stream: BinaryIO, begin: int, end: int) -> int:
        found = look(stream, begin, end)
        if changes:
            changes.pop()()
        return found

    monkeypatch.setattr(file_source, "_last_line_feed", changed)


def test_only_whole_lines_are_handed_out_and_each_once(tmp_path: Path) -> None:
    log, reader = tmp_path / "server.log", GrowingReader(str(tmp_path))
    log.write_bytes(b"one\ntwo\nthr")
    first = reader.latestOffset({})
    assert lines(reader, {}, first) == b"one\ntwo\n"
    with log.open("ab") as stream:
        stream.write(b"ee\n")
    second = reader.latestOffset(first)
    assert lines(reader, first, second) == b"three\n"
    assert lines(reader, second, reader.latestOffset(second)) == b""


def test_a_file_that_is_moved_while_it_is_looked_at_keeps_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, reader = tmp_path / "server.log", GrowingReader(str(tmp_path))
    log.write_bytes(b"one\ntwo\n")
    first = reader.latestOffset({})
    with log.open("ab") as stream:
        stream.write(b"three\n")

    def rotate() -> None:
        log.rename(tmp_path / "server.log.1")
        log.write_bytes(b"4\n")

    during(monkeypatch, rotate)
    second = reader.latestOffset(first)
    assert lines(reader, first, second) == b"three\n"
    assert lines(reader, second, reader.latestOffset(second)) == b"4\n"


def test_a_file_that_is_emptied_while_it_is_looked_at_is_another_one_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, reader = tmp_path / "server.log", GrowingReader(str(tmp_path))
    log.write_bytes(b"one\ntwo\n")

    def empty() -> None:
        log.write_bytes(b"3\n")

    during(monkeypatch, empty)
    first = reader.latestOffset({})
    assert lines(reader, {}, first) == b""
    assert lines(reader, first, reader.latestOffset(first)) == b"3\n"


def test_a_file_that_is_gone_is_forgotten_once_others_have_grown_twice(tmp_path: Path) -> None:
    log, other, reader = tmp_path / "server.log", tmp_path / "other.log", GrowingReader(str(tmp_path))
    for path in (log, other):
        path.write_bytes(b"one\n")
    offset = reader.latestOffset({})
    log.rename(tmp_path.parent / "hidden.log")
    assert reader.latestOffset(offset) == offset
    sizes = []
    for _ in range(3):
        with other.open("ab") as stream:
            stream.write(b"more\n")
        last, offset = offset, reader.latestOffset(offset)
        assert lines(reader, last, offset) == b"more\n"
        sizes.append(len(offset))
    assert sizes == [2, 1, 1]


def test_a_file_that_was_only_missed_once_goes_on(tmp_path: Path) -> None:
    log, other, reader = tmp_path / "server.log", tmp_path / "other.log", GrowingReader(str(tmp_path))
    for path in (log, other):
        path.write_bytes(b"one\n")
    first = reader.latestOffset({})
    log.rename(tmp_path.parent / "hidden.log")
    other.write_bytes(b"one\ntwo\n")
    second = reader.latestOffset(first)
    (tmp_path.parent / "hidden.log").rename(tmp_path / "server.log.1")
    third = reader.latestOffset(second)
    assert lines(reader, first, second) + lines(reader, second, third) == b"two\n"


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    log, reader = tmp_path / "server.log", GrowingReader(str(tmp_path))
    log.write_bytes(b"one\n")
    end = reader.latestOffset({})
    log.unlink()
    with pytest.raises(FileNotFoundError, match="no file beside it"):
        lines(reader, {}, end)


@pytest.mark.parametrize("part", [10, 1 << 20])
def test_of_a_file_that_was_compressed_before_it_was_read_nothing_is_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Its lines are read where they are now; the query must not fail of it, for it would each time that it is started again."""
    monkeypatch.setattr(file_source, "PART_BYTES", part)
    log, reader = tmp_path / "server.log", GrowingReader(str(tmp_path))
    log.write_bytes(b"12345\n1234567\n12\n")
    end = reader.latestOffset({})
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"1234\n"))
    content = log.read_bytes()
    log.unlink()
    with pytest.raises(FileNotFoundError):
        lines(reader, {}, end)
    (tmp_path / "server.log.1.gz").write_bytes(gzip.compress(content))
    assert lines(reader, {}, end) == b""
    log.write_bytes(b"new\n")
    assert lines(reader, end, reader.latestOffset(end)) == b"new\n"


def test_large_growth_is_divided_between_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source, "PART_BYTES", 10)
    (tmp_path / "server.log").write_bytes(b"12345\n1234567\n12\n")
    reader = GrowingReader(str(tmp_path))
    parts = reader.partitions({}, reader.latestOffset({}))
    found = {begin: content for part in parts for *_, begin, content in reader.read(part)}
    assert found == {0: b"12345\n", 6: b"1234567\n", 14: b"12\n"}
    assert len(parts) == 2


def test_what_many_files_grew_by_is_shared_by_as_many_tasks_as_run_at_once(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"server-{number}.log").write_bytes(b"line\n" * (1 + number))
    reader = GrowingReader(str(tmp_path), tasks=4)
    parts = reader.partitions({}, reader.latestOffset({}))
    sizes = [sum(len(content) for *_, content in reader.read(part)) for part in parts]
    assert len(sizes) == 4
    assert sum(sizes) == 5 * sum(range(1, 31))
    assert max(sizes) - min(sizes) <= 5 * 30
    assert reader.partitions({}, {}) == []
    (one, *_), paths = parts, {path for part in parts for _, path, *_ in reader.read(part)}
    assert len(list(reader.read(one))) > 1
    assert len(paths) == 30


def test_more_whole_lines_than_were_read_are_more_and_half_a_line_is_not(tmp_path: Path) -> None:
    log, reader = tmp_path / "server.log", GrowingReader(str(tmp_path))
    log.write_bytes(b"one\ntwo\nthr")
    ends = {identity: each["end"] for identity, each in reader.latestOffset({}).items()}
    assert has_grown(str(tmp_path), {})
    assert not has_grown(str(tmp_path), ends)
    with log.open("ab") as stream:
        stream.write(b"ee\n")
    assert has_grown(str(tmp_path), ends)


def test_a_file_that_was_emptied_and_begins_with_the_same_line_is_another_text(tmp_path: Path) -> None:
    """Its lines are those of another text, though they lie where lines of the text before were read."""
    log, reader, start = tmp_path / "server.log", GrowingReader(str(tmp_path)), Offset()
    read: list[tuple[str, int, bytes]] = []
    for content in (b"begin\n" + b"one\n" * 9, b"begin\ntwo\n", b"begin\ntwo\nthree\n", b"begin\n4\n"):
        log.write_bytes(content)
        end = reader.latestOffset(start)
        for part in reader.partitions(start, end):
            read += [(identity.rpartition("+")[0], begin, new) for identity, _, begin, new in reader.read(part)]
        start = end
        assert not has_grown(str(tmp_path), {identity: each["end"] for identity, each in end.items()})
    assert read == [
        ("", 0, b"begin\n" + b"one\n" * 9),
        ("1", 0, b"begin\ntwo\n"),
        ("1", 10, b"three\n"),
        ("2", 0, b"begin\n4\n"),
    ]
    with log.open("ab") as stream:
        stream.write(b"five\n")
    assert has_grown(str(tmp_path), {identity: each["end"] for identity, each in start.items()})
