"""Recorded clusters as their nodes wrote them: lines with the lines that continue them, by node and file."""

from __future__ import annotations

import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

NODE = re.compile(r"^(broker|controller|zookeeper)[\w.-]*$")
STAMP = re.compile(r"^\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[,.](\d{3})")
PARTITION = re.compile(r"\b(?:[Pp]artition|Leader|Follower) ([A-Za-z_][\w.]*)-(\d+)\b")
ARCHIVES = (".tar.xz", ".tar.gz", ".tgz", ".tar")


@dataclass(slots=True, eq=False)
class Entry:
    """A line with its continuation lines; the time is in milliseconds since 1970.

    ``mark`` numbers the lines that together show a breach. ``origin`` is the line of the healthy recording that this one was copied from.
    """

    time: int | None
    text: str
    mark: int | None = None
    origin: Entry | None = None

    @property
    def moment(self) -> int:
        """The time, or 0 where the line has none."""
        return self.time or 0

    @property
    def lines(self) -> int:
        """How many lines of a file it takes."""
        return self.text.count("\n") + 1


Files = list[tuple[str, list[Entry]]]
"""What a part of a recording holds: paths with what stands in them."""


@dataclass(slots=True, eq=False)
class Recording:
    """Node, file name, entries, as the nodes wrote them."""

    name: str
    nodes: dict[str, dict[str, list[Entry]]]
    times: list[int] = field(default_factory=list)
    topics: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.times:
            self.times = sorted(each.time for _, _, each in self.every() if each.time is not None)
            named = Counter(found.groups() for _, _, each in self.every() if (found := PARTITION.search(each.text)))
            self.topics = [(topic, partition) for (topic, partition), _ in named.most_common(40)]

    def every(self) -> Iterator[tuple[str, str, Entry]]:
        """All entries, with node and file."""
        for node, files in self.nodes.items():
            for name, entries in files.items():
                for entry in entries:
                    yield node, name, entry

    def in_time(self) -> list[tuple[str, str, Entry]]:
        """All entries that bear a time, in its order."""
        return sorted((each for each in self.every() if each[2].time is not None), key=lambda each: each[2].moment)

    def copy(self) -> Recording:
        """The same lines again, each of which knows where it comes from: they may be changed."""
        nodes = {
            node: {
                name: [Entry(each.time, each.text, origin=each) for each in entries] for name, entries in files.items()
            }
            for node, files in self.nodes.items()
        }
        return Recording(self.name, nodes, self.times, self.topics)


def base(name: str) -> str:
    """`server.log` of `server.log.2026-11-21-01`."""
    return re.sub(r"\.log.*", ".log", name)


def _order(name: str) -> tuple[str, bool, str]:
    """Rotated files by age; the one that is written to is the last."""
    return base(name), name == base(name), name


def parse(text: str) -> list[Entry]:
    """The entries of a file."""
    entries: list[Entry] = []
    for line in text.splitlines():
        found = STAMP.match(line)
        if found:
            day, clock, milli = found.groups()
            moment = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
            entries.append(Entry(int(moment.timestamp()) * 1000 + int(milli), line))
        elif entries:
            entries[-1].text += "\n" + line
        else:
            entries.append(Entry(None, line))
    return entries


def load_recordings(path: Path) -> list[Recording]:
    """The recordings in an archive `NAME/NODE/FILE`, or in a folder of nodes' folders; what is not a node's log is left out."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for name, node, file, text in _folder(path) if path.is_dir() else _archive(path):
        found[name][node][file] = text
    return [
        Recording(
            name,
            {
                node: {file: parse(files[file]) for file in sorted(files, key=_order)}
                for node, files in sorted(nodes.items())
            },
        )
        for name, nodes in found.items()
    ]


def _folder(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for file in sorted(path.rglob("*")):
        parts = file.relative_to(path).parts
        if file.is_file() and len(parts) == 2 and NODE.match(parts[0]):
            yield path.name, parts[0], parts[1], file.read_text(encoding="utf-8", errors="replace")


def _archive(path: Path) -> Iterator[tuple[str, str, str, str]]:
    with tarfile.open(path) as archive:
        for member in archive:
            parts = Path(member.name).parts
            if member.isreg() and len(parts) == 3 and NODE.match(parts[1]) and ".log" in parts[2]:
                data = archive.extractfile(member)
                if data is not None:
                    yield parts[0], parts[1], parts[2], data.read().decode("utf-8", "replace")


def _has_nodes(folder: Path) -> bool:
    return any(
        node.is_dir() and NODE.match(node.name) is not None and any(node.glob("*.log*")) for node in folder.iterdir()
    )


def recordings_below(paths: Iterable[Path]) -> list[Path]:
    """The archives and unpacked recordings at these paths, or directly below them."""
    found: list[Path] = []
    for each in paths:
        if each.is_file() or _has_nodes(each):
            found.append(each)
            continue
        inner = sorted(each.iterdir())
        found += [path for path in inner if path.name.endswith(ARCHIVES) or (path.is_dir() and _has_nodes(path))]
    return found
