"""Parts of recorded clusters, as operators have logs, and the verdict about each.

A recorded cluster broke no rule; so no part of its logs may be called inconsistent, end without an answer, or end with a traceback. One line a
cut: the verdict, its reason, what could not be explained, and processor seconds.
"""

from __future__ import annotations

import re
import shutil
import signal
import tarfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from traceback import format_exc
from typing import Any

from assay.cli.settings import load
from assay.traces.event import Remark
from assay.traces.log_reader import read_logs
from assay.traces.result import Validation
from assay.traces.spec_selection import validate_with_selection

ROOT = Path(__file__).parent.parent
RECORDINGS = (ROOT / "tests" / "corpus" / "recordings", ROOT / "traces" / "samples")
NODES = ("broker-*", "controller-*", "zookeeper")
RECORD = re.compile(rb"^(?=\[\d{4}-)", re.MULTILINE)
_STAMP = re.compile(rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}")
_FINE = re.compile(rb"\[[^\]]*\] (?:DEBUG|TRACE) ")
PATIENCE = 120
"""Processor seconds after which a cut is given up."""
SHARES = (0.25, 0.5, 0.75)
SHOWN = 3
"""How many of the mismatches of a cut are reported."""

Cut = Callable[[Path, Path], None]
"""Writes a part of the logs below the first folder to the second."""


def nodes(logs: Path) -> list[Path]:
    """The folders of the nodes."""
    return sorted(node for pattern in NODES for node in logs.glob(pattern))


def _files(logs: Path) -> list[Path]:
    return [path for node in nodes(logs) for path in sorted(node.rglob("*.log*"))]


def _is_of(kind: str, path: Path) -> bool:
    """Whether a file is of this kind, whatever part of a rotated log it is."""
    return path.name.partition(".log")[0] == kind


def _is_in(folders: Container[Path], path: Path) -> bool:
    return path.parent in folders


def _only(keep: Callable[[Path], bool]) -> Cut:
    """The files of which this is true."""

    def cut(logs: Path, target: Path) -> None:
        for path in filter(keep, _files(logs)):
            _write(path.relative_to(logs), target, path.read_bytes())

    return cut


def _each(change: Callable[[bytes], bytes]) -> Cut:
    """All files, changed."""

    def cut(logs: Path, target: Path) -> None:
        for path in _files(logs):
            _write(path.relative_to(logs), target, change(path.read_bytes()))

    return cut


def _write(name: Path, target: Path, content: bytes) -> None:
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (target / name).write_bytes(content)


def last_third(content: bytes) -> bytes:
    """The last third of the lines."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[len(lines) * 2 // 3 :])


def at_info(content: bytes) -> bytes:
    """The records of level INFO and above: what is left where somebody has turned the stock levels down."""
    return b"".join(record for record in RECORD.split(content) if not _FINE.match(record))


def _since(share: float) -> Cut:
    """What was written from one time on, in all files: as hourly rotation, or whoever collects the last hours, leaves them."""

    def cut(logs: Path, target: Path) -> None:
        files = {path: RECORD.split(path.read_bytes()) for path in _files(logs)}
        stamps = sorted(found[0] for records in files.values() for each in records if (found := _STAMP.match(each)))
        first = stamps[int(len(stamps) * share)]
        for path, records in files.items():
            kept = [each for each in records if (found := _STAMP.match(each)) and found[0] >= first]
            if kept:
                _write(path.relative_to(logs), target, b"".join(kept))

    return cut


def prefixed(logs: Path, target: Path) -> None:
    """What `docker compose logs` prints: the name of the container before each line."""
    for path in _files(logs):
        prefix = f"{path.parent.name}-1  | ".encode()
        content = b"".join(prefix + line for line in path.read_bytes().splitlines(keepends=True))
        _write(path.relative_to(logs), target, content)


def cuts(logs: Path) -> Iterator[tuple[str, Cut]]:
    """The cuts of the logs below a folder, by name."""
    kinds = ("state-change", "controller", "server")
    yield from ((f"{kind} only", _only(partial(_is_of, kind))) for kind in kinds)
    of_role = {role: {node for node in nodes(logs) if node.name.startswith(role)} for role in ("broker", "controller")}
    if of_role["controller"]:
        yield from ((f"{role}s only", _only(partial(_is_in, found))) for role, found in of_role.items())
    yield from ((f"{node.name} only", _only(partial(_is_in, {node}))) for node in nodes(logs))
    for at, kind in enumerate(kinds):
        having = [path for path in _files(logs) if _is_of(kind, path)]
        if having:
            lost = having[at % len(having)]
            yield f"without {lost.relative_to(logs)}", _only(lost.__ne__)
    yield "last third of every file", _each(last_third)
    yield "last half, from within a line", _each(lambda content: content[len(content) // 2 + 17 :])
    yield "first half, to within a line", _each(lambda content: content[: len(content) // 2 + 17])
    yield from ((f"all files from {share:.0%} on", _since(share)) for share in SHARES)
    yield "at level INFO", _each(at_info)
    yield "with prefixes of docker", prefixed
    yield "empty", lambda _, __: None


class TooLongError(Exception):
    """A cut took more processor time than it may."""


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGVTALRM, give_up)
    # Processor time, so that a cut is not given up because the machine is busy.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def answer(logs: Iterable[Path]) -> Validation:
    """The answer about logs, against the spec that they call for."""
    return validate_with_selection(read_logs(list(logs)), None, lambda spec: load(spec, None, {}))[1]


def reported(validation: Validation) -> dict[str, Any]:
    """What is said, in short."""
    return {
        "verdict": validation.verdict.value,
        "reason": validation.reason,
        "mismatches": [f"{each.place} {each.event.kind} {each.action}" for each in validation.violations[:SHOWN]],
        "count": len(validation.violations),
        "unmapped": validation.counts.unmapped,
        "remarks": dict(Counter(each.text for each in _remarks(validation))),
    }


def _remarks(validation: Validation) -> Iterator[Remark]:
    yield from validation.remarks
    for result in validation.slices:
        yield from result.remarks


def measured(cut: Cut, logs: Path, folder: Path) -> dict[str, Any]:
    """What is said of a cut, or why nothing is, and how long it took."""
    begun = process_time()
    try:
        cut(logs, folder)
        with _patience(PATIENCE):
            found = reported(answer([folder]))
    except TooLongError:
        found = {"verdict": "too long"}
    except Exception:  # noqa: BLE001 - what went wrong is the finding
        found = {"verdict": "traceback", "reason": format_exc(limit=-3)}
    return {**found, "seconds": round(process_time() - begun, 1)}


def lines(arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One line a cut of each recording; the arguments are names of recordings, and `cut=TEXT` for cuts whose names hold the text."""
    wanted = [each.removeprefix("cut=") for each in arguments if each.startswith("cut=")]
    named = [each for each in arguments if not each.startswith("cut=")]
    archives = [path for folder in RECORDINGS for path in sorted(folder.glob("*.tar.xz"))]
    unknown = set(named) - {path.name.removesuffix(".tar.xz") for path in archives}
    if unknown:
        raise ValueError(f"no recordings: {', '.join(sorted(unknown))}")
    for archive in archives:
        recording = archive.name.removesuffix(".tar.xz")
        if not named or recording in named:
            yield from _of_recording(archive, recording, wanted)


def _of_recording(archive: Path, recording: str, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    with TemporaryDirectory() as scratch, tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
        logs = Path(scratch) / recording
        for name, cut in cuts(logs):
            if not wanted or any(text in name for text in wanted):
                folder = Path(scratch) / "cut"
                folder.mkdir()
                yield {"recording": recording, "cut": name, **measured(cut, logs, folder)}
                shutil.rmtree(folder)
