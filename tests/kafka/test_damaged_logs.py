"""Logs that are damaged at random are read as far as they go, in every layout. Nothing raises, and every byte and every
record is accounted for.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assay.traces.log_reader import read_logs
from assay.traces.samples import unpack_sample

from .rewriting import LAYOUTS, PREFIXES, prefixed, rewrite

PIECES = (
    b"\0",
    b"\xff\xfe",
    b"\x1b[31m",
    b"\n",
    b"\r\n",
    b"[",
    b"](",
    b" (a.B)",
    b"| ",
    b": ",
    b"\xe2\x80\x98",
    b"<script>",
)
NODE = "broker-1"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = unpack_sample("elections", tmp_path_factory.mktemp("recording")) / NODE
    return b"".join((folder / name).read_bytes()[:20_000] for name in ("controller.log", "state-change.log"))


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Cut, deleted, doubled, overwritten and inserted pieces."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(out) + 1)
        match chance.randrange(5):
            case 0:
                out[at:at] = chance.choice(PIECES)
            case 1:
                del out[at : at + chance.randint(1, 200)]
            case 2:
                out[at:at] = out[at : at + chance.randint(1, 400)]
            case 3:
                out[at : at + 3] = chance.randbytes(3)
            case _:
                del out[chance.randint(len(out) // 2, len(out)) :]
    return bytes(out)


@pytest.mark.parametrize("seed", range(40))
def test_damage_stops_nothing(seed: int, log: bytes, tmp_path: Path) -> None:
    chance = random.Random(seed)
    layout = LAYOUTS[chance.choice(list(LAYOUTS))]
    if chance.random() < 0.5:
        prefix = PREFIXES[chance.choice(list(PREFIXES))]
        text = "".join(line + "\n" for _, line in prefixed(log, NODE, "server.log", prefix, layout)).encode()
    else:
        text = rewrite(log, layout)
    data = damaged(text, chance)
    path = tmp_path / "server.log"
    path.write_bytes(data)
    reading = read_logs([path])
    assert reading.bytes == len(data) or not reading.files
    assert reading.lines == data.count(b"\n") + (not data.endswith(b"\n")) or not reading.files
    recognised = {event.record.place for event in reading.events}
    unmapped = sum(lines.count for lines in reading.unmapped)
    twice = sum(int(notice.text.rpartition(" ")[2]) for notice in reading.notices if notice.kind == "repeated records")
    assert reading.records <= len(recognised) + reading.other + unmapped + twice
    assert all(notice.text for notice in reading.notices)
