"""At any moment the answer about logs that grow is that of the local command about the lines so far. Yet only slices
with new lines are validated anew.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest
from benchmarks.synthetic import generate
from tests.unit.spark.local_answer import loaded, said, said_locally

from assay.spark.logs.read_tasks import reader_of
from assay.spark.logs.spec_for_cluster import SpecSelection
from assay.spark.logs.tasks import STANDARD, ClusterAnswers, ClusterQuestion
from assay.spark.logs.validate import ClusterAnswer
from assay.spark.streaming import incremental_answer as following_module
from assay.spark.streaming.file_source import GrowingReader, Offset, paths_by_identity
from assay.spark.streaming.incremental_answer import MAX_LOCAL_EVENTS, IncrementalValidator, shares
from assay.spark.streaming.kafka_source import Topic
from assay.spark.streaming.query import Directory
from assay.spark.streaming.state_store import PieceStore, StoredPiece
from assay.traces.event import Event
from assay.traces.input.sources import ListedFile
from assay.traces.input.split_files import read_piece
from assay.traces.log_reader import read_logs
from assay.traces.samples import unpack_sample
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_validator import Joiner
from assay.traces.store.record_layouts import MergedLayouts


class Growing:
    """Logs that are written on file by file, and the pieces that are read of them."""

    def __init__(self, source: Path, logs: Path) -> None:
        self.logs = logs
        self.pieces: dict[str, list[StoredPiece]] = {}
        self._left = {
            path.relative_to(source): path.read_bytes().splitlines(keepends=True)
            for path in sorted(source.rglob("*.log"))
        }
        self._batch = 0
        self._moulds = MergedLayouts()

    def grow(self, upto: str, behind: str = "") -> None:
        """Write and read on: of each file the lines that are left up to a stamp, but of files of that name."""
        self._batch += 1
        for name, lines in self._left.items():
            if str(name) == behind:
                continue
            count = next(
                (at for at, line in enumerate(lines) if line[:2] == b"[2" and line[1:24].decode() > upto), len(lines)
            )
            content, self._left[name] = b"".join(lines[:count]), lines[count:]
            if content:
                self._write(self.logs / name, content)

    def rotate(self, name: str) -> None:
        """Give a file another name; the lines that follow go to a new one."""
        path = self.logs / name
        moved = path.rename(f"{path}.1")
        self.pieces[str(moved)] = [piece._replace(path=str(moved)) for piece in self.pieces.pop(str(path))]

    def stamps(self, parts: int) -> list[str]:
        """Stamps that divide the lines into so many parts of like size; the last is after all of them."""
        every = sorted(line[1:24].decode() for lines in self._left.values() for line in lines if line[:2] == b"[2")
        return [every[len(every) * part // parts] for part in range(1, parts)] + ["3"]

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        begin = path.stat().st_size if path.exists() else 0
        with path.open("ab") as stream:
            stream.write(content)
        origin = ListedFile(str(path), str(path), named=False, size=0).origin()
        piece = read_piece(reader_of(STANDARD), content, origin, STANDARD.scan, begin).with_shared_layouts(self._moulds)
        self.pieces.setdefault(str(path), []).append(StoredPiece(self._batch, begin, len(content), str(path), piece))


def by_tasks(asked: ClusterAnswers, slices: Mapping[str, Sequence[Event]]) -> dict[str, SliceAnswer]:
    assert asked.shared.joint is not None
    joiner = Joiner(asked.shared.joint)
    return {name: joiner.of_slice(name, events) for name, events in slices.items()}


def follow_and_compare(source: Path, place: Path, parts: int, here: int) -> ClusterAnswer:
    """The last answer about logs that grow, after each of which the local command was asked too."""
    growing = Growing(source, place / "logs")
    following = IncrementalValidator(ClusterQuestion(SpecSelection(loaded()), measure=False), by_tasks, here)
    directory, kept = Directory(str(growing.logs)), PieceStore(place / "pieces", STANDARD)
    for stamp in growing.stamps(parts):
        growing.grow(stamp)
        answer = following.answer(directory.texts(growing.pieces, kept, STANDARD))
        assert following.answered > 0
        assert said(answer) == said_locally(growing.logs)
    answer = following.answer(directory.texts(growing.pieces, kept, STANDARD))
    assert following.answered == 0
    return answer


@pytest.mark.slow
def test_each_answer_is_that_of_the_lines_so_far(tmp_path: Path) -> None:
    generate(tmp_path / "source", 40_000, brokers=3, partitions=4, violations=0, seed=1)
    found = follow_and_compare(tmp_path / "source", tmp_path, 2, MAX_LOCAL_EVENTS)
    assert found.validation.verdict.value == "consistent"


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_slices_go_on_where_they_were_whatever_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """Processes start anew in each part; then a file is a part behind, one is rotated, and what was in memory is lost."""
    monkeypatch.setattr(following_module, "MIN_EVENTS_TO_FORK", 0)
    generate(tmp_path / "source", 60_000, brokers=3, partitions=4, violations=0, seed=5)
    growing, went_on = Growing(tmp_path / "source", tmp_path / "logs"), list[int]()
    directory, kept = Directory(str(growing.logs)), PieceStore(tmp_path / "pieces", STANDARD)
    following = IncrementalValidator(
        ClusterQuestion(SpecSelection(loaded()), measure=False), by_tasks, processes=processes
    )
    late, rotated = "broker-2/state-change.log", "broker-3/state-change.log"
    for number, stamp in enumerate(growing.stamps(7)):
        growing.grow(stamp, behind=late if number == 3 else "")
        if number == 4:
            growing.rotate(rotated)
        if number == 5:
            following = IncrementalValidator(
                ClusterQuestion(SpecSelection(loaded()), measure=False), by_tasks, processes=processes
            )
        answer = following.answer(directory.texts(growing.pieces, kept, STANDARD))
        assert said(answer) == said_locally(growing.logs), number
        went_on.append(following.went_on)
    assert went_on[1] + went_on[2] > 0
    assert (went_on[0], went_on[5]) == (0, 0)
    assert went_on[6] > 0


def test_what_cannot_be_read_is_noticed_as_it_is_locally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("closed.log", "closed.log.gz"):
        (logs / name).write_bytes(b"one\n")
    (logs / "gone.log").symlink_to(tmp_path / "nothing")
    opens = Path.open

    def refused(path: Path, *arguments: Any, **more: Any) -> Any:
        if path.name.startswith("closed"):
            raise PermissionError(EACCES, "Permission denied")
        return opens(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", refused)
    found = Directory(str(logs)).texts({}, PieceStore(tmp_path / "pieces", STANDARD), STANDARD).reading(STANDARD)
    assert GrowingReader(str(logs)).latestOffset() == {}
    assert sorted(found.notices, key=str) == sorted(read_logs([logs]).notices, key=str)
    assert [notice.kind for notice in found.notices] == ["unreadable"] * 3


def test_a_text_that_is_read_as_a_whole_may_have_been_compressed(tmp_path: Path) -> None:
    """Of lines behind prefixes pieces tell nothing: all is read from the file, and from the compressed one when that is gone."""
    logs, kept = unpack_sample("elections", tmp_path / "logs"), PieceStore(tmp_path / "pieces", STANDARD)
    for log in sorted(logs.rglob("*.log")):
        log.write_bytes(b"".join(b"broker  | " + line for line in log.read_bytes().splitlines(keepends=True)))
    reader, pieces = GrowingReader(str(logs)), dict[str, list[StoredPiece]]()
    for growth in reader.partitions({}, reader.latestOffset()):
        for identity, path, begin, content in reader.read(growth):
            origin = ListedFile(path, path, named=False, size=0).origin()
            piece = read_piece(reader_of(STANDARD), content, origin, STANDARD.scan, begin)
            pieces.setdefault(identity, []).append(StoredPiece(0, begin, len(content), path, piece))
    rotated = next(iter(sorted(logs.rglob("*.log"))))
    rotated.with_name(f"{rotated.name}.1.gz").write_bytes(gzip.compress(rotated.read_bytes()))
    rotated.unlink()
    found = Directory(str(logs)).texts(pieces, kept, STANDARD).reading(STANDARD)
    assert (found.kinds, found.notices) == (read_logs([logs]).kinds, read_logs([logs]).notices)
    assert sum(found.kinds.values()) > 1000


def test_a_text_before_its_file_was_emptied_is_not_lost(tmp_path: Path) -> None:
    """Two texts of one file, of which the second begins with the same line: both are answered about."""
    logs, kept = tmp_path / "logs", PieceStore(tmp_path / "pieces", STANDARD)
    logs.mkdir()
    reader, start, pieces = GrowingReader(str(logs)), Offset(), dict[str, list[StoredPiece]]()
    stamped = b"[2024-01-01 00:00:0%d,000] INFO said %d (kafka.server.KafkaServer)\n"
    for texts in ((0, 1, 2, 3), (0, 4), (0, 4, 5, 6, 7, 8)):
        (logs / "server.log").write_bytes(b"".join(stamped % (each, each) for each in texts))
        end = reader.latestOffset(start)
        for growth in reader.partitions(start, end):
            for identity, path, begin, content in reader.read(growth):
                origin = ListedFile(path, path, named=False, size=0).origin()
                piece = read_piece(reader_of(STANDARD), content, origin, STANDARD.scan, begin)
                pieces.setdefault(identity, []).append(StoredPiece(0, begin, len(content), path, piece))
        start = end
    texts_of_file = Directory(str(logs)).texts(pieces, kept, STANDARD).texts
    assert [text.readings[0].tally.lines for text in texts_of_file] == [4, 6]


def test_lines_behind_a_gap_are_read_again_or_counted(tmp_path: Path) -> None:
    """A piece that was kept is gone, and the file still has its lines. Once the file is gone too, what followed is left
    out, with a notice.
    """
    source = unpack_sample("elections", tmp_path / "source")
    growing, kept = Growing(source, tmp_path / "logs"), PieceStore(tmp_path / "pieces", STANDARD)
    for stamp in growing.stamps(4):
        growing.grow(stamp)
    directory = Directory(str(growing.logs))
    now = paths_by_identity(str(growing.logs), [])
    known = {key: growing.pieces[path] for key, path in now.items()}
    cut = next(key for key, own in known.items() if len(own) > 2 and own[1].piece.lines > 5)
    known[cut] = [piece for piece in known[cut] if piece.batch != known[cut][1].batch]
    found = directory.texts(known, kept, STANDARD).reading(STANDARD)
    expected = read_logs([growing.logs])
    assert (found.kinds, found.notices, found.bytes) == (expected.kinds, expected.notices, expected.bytes)
    path = known[cut][-1].path
    Path(path).unlink()
    less = directory.texts(known, kept, STANDARD).reading(STANDARD)
    (notice,) = [each for each in less.notices if each.kind == "lines left out"]
    behind = known[cut][1:]
    assert notice.text.startswith(f"{sum(each.piece.lines for each in behind):,} lines that were read from byte")
    assert less.bytes == expected.bytes - sum(piece.size for piece in growing.pieces[path][1:])
    of_topic = Topic("host:9092", "logs", {}).texts({cut: known[cut]}, kept, STANDARD).reading(STANDARD)
    assert [each.text for each in of_topic.notices if each.kind == "lines left out"] == [notice.text]
    assert of_topic.bytes == known[cut][0].size


def test_logs_in_which_no_slice_is_named_yet_are_answered(tmp_path: Path) -> None:
    generate(tmp_path / "source", 40_000, brokers=3, partitions=4, violations=0, seed=1)
    growing = Growing(tmp_path / "source", tmp_path / "logs")
    following = IncrementalValidator(ClusterQuestion(SpecSelection(loaded()), measure=False), by_tasks)
    directory, kept = Directory(str(growing.logs)), PieceStore(tmp_path / "pieces", STANDARD)
    growing.grow(growing.stamps(100)[0])
    answer = following.answer(directory.texts(growing.pieces, kept, STANDARD))
    assert (answer.validation.slices, following.answered) == ((), 0)
    assert said(answer) == said_locally(growing.logs)


@pytest.mark.slow
def test_what_a_copy_that_ended_leaves_is_done_by_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(tmp_path / "source", 40_000, brokers=3, partitions=4, violations=0, seed=1)
    monkeypatch.setattr(following_module, "MIN_EVENTS_TO_FORK", 0)
    monkeypatch.setattr(IncrementalValidator, "_check_as_bytes", lambda *_: os._exit(1))
    growing, following = (
        Growing(tmp_path / "source", tmp_path / "logs"),
        IncrementalValidator(ClusterQuestion(SpecSelection(loaded()), measure=False), by_tasks, processes=2),
    )
    directory, kept = Directory(str(growing.logs)), PieceStore(tmp_path / "pieces", STANDARD)
    for stamp in growing.stamps(2):
        growing.grow(stamp)
        answer = following.answer(directory.texts(growing.pieces, kept, STANDARD))
        assert said(answer) == said_locally(growing.logs)
    assert following.answered == 4


@pytest.mark.slow
def test_each_answer_is_that_of_the_lines_so_far_where_one_does_not_fit(tmp_path: Path) -> None:
    generate(tmp_path / "source", 40_000, brokers=3, partitions=4, violations=0, seed=1)
    log = next(path for path in sorted((tmp_path / "source").rglob("*.log")) if "leaderEpoch=1," in path.read_text())
    log.write_text(log.read_text().replace("leaderEpoch=1,", "leaderEpoch=7,", 1))
    found = follow_and_compare(tmp_path / "source", tmp_path, 3, 0)
    assert found.validation.verdict.value == "inconsistent"


def test_copies_of_the_process_get_less_to_do_and_every_slice_is_in_one_share() -> None:
    sizes = {str(number): 10 for number in range(100)}
    own, other = shares(sizes, 2)
    assert sorted(own + other) == sorted(sizes)
    assert 1 < len(own) / len(other) < 2
    assert shares(sizes, 1) == [list(sizes)]
    assert shares({"only": 10}, 4) == [["only"]]
    assert shares({}, 4) == [[]]
