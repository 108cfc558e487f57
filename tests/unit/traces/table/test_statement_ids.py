"""What lines state keeps its number while logs grow, and what follows from it is worked out once."""

from __future__ import annotations

import numpy as np
import pytest

from assay.grammar.identity_memo import IdentitySet
from assay.spark.logs.read_tasks import catalogue_of, reader_of
from assay.spark.logs.tasks import STANDARD
from assay.traces.event import Event
from assay.traces.input.sources import ListedFile
from assay.traces.input.split_files import join_pieces, read_piece
from assay.traces.log_reader import LogReading, log_reading
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.samples import unpack_sample
from assay.traces.store.record_layouts import MergedLayouts
from assay.traces.table.event_selection import Selection
from assay.traces.table.statement_ids import UNNUMBERED, EveryKind, StatementMemory

NAMES = EveryKind(frozenset({"topic", "partition", "version", "epoch"}))


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    logs = unpack_sample("elections", tmp_path_factory.mktemp("logs"))
    return {str(path): path.read_bytes() for path in sorted(logs.rglob("*.log"))}


def read(texts: dict[str, bytes], part: float, memory: StatementMemory | None, layouts: MergedLayouts) -> LogReading:
    """The first lines of each text, in pieces of a few lines that were somewhere else in between."""
    readings = []
    for path, text in texts.items():
        lines = text.splitlines(keepends=True)
        lines = lines[: max(40, int(part * len(lines)))]
        pieces, at = [], 0
        for begin in range(0, len(lines), 40):
            content = b"".join(lines[begin : begin + 40])
            origin = ListedFile(path, path, named=False, size=0).origin()
            piece = read_piece(reader_of(STANDARD), content, origin, STANDARD.scan, at)
            pieces.append(from_bytes(to_bytes(piece), catalogue_of(STANDARD)).with_shared_layouts(layouts))
            at += len(content)
        origin = ListedFile(path, path, named=False, size=at).origin()
        joined = join_pieces(reader_of(STANDARD), origin, pieces, at, STANDARD.scan, may_be_pasted=False)
        assert joined is not None
        readings.append(joined)
    return log_reading(readings, [], catalogue_of(STANDARD), memory)


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the same events have the same number, whatever it is."""
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})


@pytest.mark.slow
def test_what_is_kept_tells_statements_apart_as_what_is_new_does(texts: dict[str, bytes]) -> None:
    memory, layouts = StatementMemory(), MergedLayouts()
    for part in (0.3, 0.6, 0.4, 1):
        kept = read(texts, part, memory, layouts).events.statements(NAMES)
        new = read(texts, part, None, MergedLayouts()).events.statements(NAMES)
        assert alike(kept.numbers, new.numbers)
        assert kept.numbers.max() + 1 == len(kept.known) == len(new.known)
        assert kept.numbers[kept.examples].tolist() == list(range(len(kept.known)))


@pytest.mark.slow
def test_what_follows_from_a_statement_is_worked_out_once(texts: dict[str, bytes]) -> None:
    memory, layouts, asked = StatementMemory(), MergedLayouts(), list[Event]()
    alone = 0

    def version(event: Event) -> object:
        asked.append(event)
        return event.kind, event.fields.get("version")

    for part in (0.5, 1, 0.7):
        table = read(texts, part, memory, layouts).events
        statements = table.statements(NAMES)
        found = table.map_statements(statements, "version", version)
        expected = [(event.kind, event.fields.get("version")) for event in table.at(statements.examples)]
        assert found == expected
        alone += int((statements.known == UNNUMBERED).sum())
    assert len(asked) <= len(read(texts, 1, memory, layouts).events.statements(NAMES).known) + alone


@pytest.mark.slow
def test_each_thing_that_follows_is_told_once_and_of_lines_that_are_there_alone(texts: dict[str, bytes]) -> None:
    memory, layouts, made = StatementMemory(), MergedLayouts(), list[int]()

    def stated(event: Event) -> tuple[str, str]:
        made[-1] += 1
        return event.kind, repr(event.fields.get("version"))

    for part in (0.5, 1, 0.7, 1):
        made.append(0)
        table = read(texts, part, memory, layouts).events
        statements = table.statements(NAMES)
        every = Selection(table, np.arange(len(table)), statements.numbers)
        found = every.distinct(statements, every.positions, "stated", stated)
        assert found == {(event.kind, repr(event.fields.get("version"))) for event in table.at(statements.examples)}
    assert made[0] > 0 < made[1]
    assert made[2] <= made[3] < made[0]  # of what is known by nothing alone


def test_pieces_share_their_moulds(texts: dict[str, bytes]) -> None:
    layouts = MergedLayouts()
    found, expected = read(texts, 1, None, layouts), read(texts, 1, None, MergedLayouts())
    assert list(found.events) == list(expected.events)
    every = IdentitySet(packed.layouts for part in found.events.parts for packed in part.packed())  # type: ignore[union-attr]
    assert layouts.layouts in every
    assert len(every) <= 3  # with those of the records where pieces meet
    kinds = {(layout.level, layout.logger, layout.template) for layout in layouts.layouts.layouts}
    assert len(kinds) == len(layouts.layouts)


def test_a_memory_does_not_travel(texts: dict[str, bytes]) -> None:
    memory = StatementMemory()
    read(texts, 0.2, memory, MergedLayouts()).events.statements(NAMES)
    assert to_bytes(from_bytes(to_bytes(memory))) == to_bytes(StatementMemory())
