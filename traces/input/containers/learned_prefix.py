"""Learns the prefix of a log collector that is not in the catalogue, from lines whose prefixes have one layout.

A prefix is divided into words and separators. Separators are the same in all lines. A word may differ: it is then a
number, or the name of a node or a file. Text behind the record that is the same in all lines is removed, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from assay.traces.input.containers.learned_parts import tells_brokers_apart, writers_of
from assay.traces.patterns.container import Container, ContainerForm

_RECORD = re.compile(
    rb"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}\]? {1,4}(?:\[[^\]\n]{0,80}\] {1,4})?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
)
_WORD = re.compile(r"[\w/\\](?:[\w.:/@\\+%-]*[\w/])?")
_ANY_WORD = r"[\w/\\](?:[\w.:/@\\+%-]{0,400}?[\w/])?"
_REST = re.compile(rb"\([A-Za-z_][\w$.]{1,250}\) {0,400}([^\w\s)][^\n)]{0,200})$")
_FILE = re.compile(r"^[/\\]|^\w:[/\\]|\.(?:log|txt|out|gz|json)(?:\.\d[\d.-]*|\.gz)?$")
_CLOCK = re.compile(r"\d\d:\d\d|^[\d.,:+-]+$")
_LONGEST = 300
_MIN_SHARE = 0.9
_FEWEST = 1
_MOST_NODES = 64


def learned_prefix(texts: Sequence[bytes], *, named: bool = False) -> Container | None:
    """What stands before the records of nearly all of these lines; None if their beginnings are not alike.

    If an outer prefix has ``named`` the node, no other word is taken for it unless that tells brokers apart.
    """
    found = list(_before(texts))
    if len(found) < _FEWEST:
        return None
    layouts = Counter(_separators(text) for text, _ in found)
    separators, count = layouts.most_common(1)[0]
    # Beginnings of several layouts are text of messages, not what one collector writes.
    if count < _MIN_SHARE * len(found):
        return None
    alike = [(text, rest) for text, rest in found if _separators(text) == separators]
    columns = list(zip(*(_WORD.findall(text) for text, _ in alike), strict=True))
    groups = _groups(columns, writers_of(rest for _, rest in alike), named=named)
    pattern = _blanks(separators[0])
    for number, after in enumerate(separators[1:]):
        pattern += f"(?P<{groups[number]}>{_ANY_WORD})" if number in groups else _ANY_WORD
        pattern += _blanks(after)
    rest, example = _after(texts), found[0][0].strip()
    shown = example if len(example) <= 60 else f"{example[:60]}…"
    return Container(
        name=f"a prefix such as `{shown}`",
        form=ContainerForm.PREFIX,
        example=found[0][0],
        holds={},
        pattern=re.compile(pattern.encode()),
        rest=rest,
    )


def _separators(text: str) -> tuple[str, ...]:
    """What stands between the words; how many blanks does not count, since columns are padded."""
    return tuple(re.sub(" +", " ", each) for each in _WORD.split(text))


def _blanks(separator: str) -> str:
    return re.escape(separator).replace(r"\ ", " {1,200}")


def _before(texts: Sequence[bytes]) -> Iterator[tuple[str, str]]:
    """What stands before the records, and the records; nothing if too many stand at the beginning of their line."""
    plain = behind = 0
    for text in texts:
        place = _RECORD.search(text, 0, _LONGEST)
        if place is None:
            continue
        if place.start() == 0:
            plain += 1
            # Most records begin their lines, so what stands before the others is no prefix of the file.
            if plain > _FEWEST and plain > behind:
                return
            continue
        behind += 1
        yield text[: place.start()].decode("utf-8", "replace"), text[place.start() :].decode("utf-8", "replace")


def _groups(columns: Sequence[Sequence[str]], writers: Sequence[int | None], *, named: bool) -> dict[int, str]:
    """Which word is the name of a file, and which that of a node. It is the one that tells brokers apart, or the first
    that differs from line to line. If none does, it is the first with a number.

    What does not differ in these lines may do so later.
    """
    telling = [number for number, values in enumerate(columns) if tells_brokers_apart(values, writers)]
    if telling:
        return {min(telling, key=lambda number: len(set(columns[number]))): "node"}
    found: dict[int, str] = {}
    names: list[tuple[bool, bool, int]] = []
    for number, values in enumerate(columns):
        different = set(values)
        if any(map(_FILE.search, different)) and (len(different) > 1 or any("." in each for each in different)):
            if "path" not in found.values():
                found[number] = "path"
        elif len(different) <= _MOST_NODES and not any(map(_CLOCK.search, different)):
            # In the order of preference: words that differ between lines, then words with a digit, then the first.
            names.append((len(different) == 1, not any(map(str.isdigit, values[0])), number))
    if names and "path" not in found.values() and not named:
        found[min(names)[2]] = "node"
    return found


def _after(texts: Sequence[bytes]) -> bytes:
    """What stands behind the loggers of nearly all records; nothing if that differs."""
    records = [text.rstrip(b"\r\n") for text in texts if _RECORD.search(text, 0, _LONGEST)]
    found = Counter(rest[1] for record in records if (rest := _REST.search(record)) is not None)
    most, count = found.most_common(1)[0] if found else (b"", 0)
    return most if count >= _MIN_SHARE * len(records) else b""
