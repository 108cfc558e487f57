"""Learns which keys of objects, or columns of a table, have the parts of a log line, where no catalogue names them.

The message is what begins with records, or stands beside a level and the name of a logger. The node is what differs
between lines of different brokers and is the same in those of one, as the lines say. Else it is what is called like a
node.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.traces.input.lines.moments import timestamp

Leaves = dict[str, list[Any]]
"""The texts and numbers of some objects by key, with dots between the steps; None where an object lacks one."""

_LEVEL = re.compile(r"(?i)TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL")
_LOGGER = re.compile(r"[a-z][\w-]{0,80}(?:\.[\w$-]{1,80}){1,12}")
_STACK = re.compile(r"\n\tat |^\tat ")
_WRITER = re.compile(r"\[[A-Z]\w{2,40} (?:\w{1,20} )?\w{0,12}[iI]d=(\d{1,9})\b")
_NODE = re.compile(
    r"(?i)host|node|pod|instance|machine|server|broker|container|computer|rechner|knoten|noeud|nodo|^vm|logstream|^source$|^key$"
)
# `instanceId` and `host_ip` are called like a node, and are none.
_NO_NODE = re.compile(r"(?i)(?:id|ip|image|namespace|port|type|time|labels?|hash|uid)$|entrysource|logsource")
_NAME = re.compile(r"(?=.{0,200}[A-Za-z])[\w.:/@-]{1,253}")
_FILE = re.compile(r"(?i).*\.(?:log|txt|out)(?:[.-][\w.-]*)?")
_HASH = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){1,14}")
_MOST_NODES = 64
_DEEPEST = 4
_MOST_LEAVES = 200
_SHARE = 0.9


def leaves_of(contents: Sequence[Mapping[str, Any]]) -> Leaves:
    """The texts and numbers in some objects."""
    found: Leaves = {}
    for number, content in enumerate(contents):
        for key, value in _leaves(content, (), _DEEPEST):
            if key in found or len(found) < _MOST_LEAVES:
                values = found.setdefault(key, [])
                values += [None] * (number - len(values)) + [value]
    return {key: values + [None] * (len(contents) - len(values)) for key, values in found.items()}


def _leaves(content: Mapping[Any, Any], steps: tuple[str, ...], deepest: int) -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        if not isinstance(name, str):
            continue
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield ".".join((*steps, name)), value
        elif isinstance(value, dict) and deepest > 1:
            yield from _leaves(value, (*steps, name), deepest - 1)


def learned_message(leaves: Leaves, begins: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
    """The parts of objects that hold records, or are records, by the names of parts; empty if nothing is like one.

    ``begins`` says whether a record, or an object with one, begins with a text.
    """
    counts = Counter({key: sum(isinstance(each, str) and begins(each) for each in own) for key, own in leaves.items()})
    key, count = counts.most_common(1)[0] if counts else ("", 0)
    if count:
        return {"message": (key,), "level": (), "logger": (), "stack": (), **_time(leaves, key)}
    level, logger = _first_like(leaves, _LEVEL), _first_like(leaves, _LOGGER)
    if not level or not logger:
        return {}
    others = {key: own for key, own in leaves.items() if key not in {level, logger} and not _is_time(own)}
    stack = next((key for key, own in others.items() if any(_STACK.search(each) for each in _texts(own))), "")
    sizes = {key: sum(map(len, _texts(own))) for key, own in others.items() if key != stack}
    if not sizes:
        return {}
    message = max(sizes, key=lambda each: sizes[each])
    parts = {"message": (message,), "level": (level,), "logger": (logger,), "stack": (stack,) if stack else ()}
    return {**parts, **_time(leaves, message)}


def learned_node(leaves: Leaves, messages: Sequence[str], stated: Sequence[str]) -> str:
    """The key that names the node of each line; empty if none does, or if that ``stated`` is right, as far as lines tell."""
    writers = writers_of(messages)
    known = any(stated)
    # What the catalogue takes for the node differs, and no value is of two brokers: there is nothing to learn.
    if known and len(set(stated)) > 1 and not _confuses(stated, writers):
        return ""
    named = {key: own for key, own in leaves.items() if _are_names(own)}
    telling = [key for key, own in named.items() if tells_brokers_apart(own, writers)]
    if telling:
        # Of several keys the one with the fewest values: others, such as a file, differ within one node, too.
        return min(telling, key=lambda key: (not _called_node(key), len(set(named[key]))))
    called = [key for key in named if _called_node(key)]
    different = [key for key in called if len(set(_texts(named[key]))) > 1]  # a last row that is cut has none
    return next(iter(different if known else (*different, *called)), "")


def writers_of(messages: Iterable[str]) -> list[int | None]:
    """The number by which each line names its writer, such as ``[Controller id=2]``."""
    return [int(found[1]) if (found := _WRITER.search(each)) is not None else None for each in messages]


def _called_node(key: str) -> bool:
    last = key.rpartition(".")[2]
    return key.lower() == "name" or (_NODE.search(last) is not None and _NO_NODE.search(last) is None)


def _are_names(values: Sequence[Any]) -> bool:
    """Whether values may be names of nodes: few, in nearly all objects, and neither times nor hashes."""
    found = set(_texts(values))
    present = sum(each is not None for each in values)
    if not 0 < len(found) <= _MOST_NODES or present < _SHARE * len(values):
        return False
    return all(_is_name(each) for each in found)


def _is_name(text: str) -> bool:
    none = any(each.fullmatch(text) for each in (_HASH, _FILE)) or timestamp(text)
    return _NAME.fullmatch(text) is not None and not none


def _pairs(values: Sequence[Any], writers: Sequence[int | None]) -> dict[Any, set[int]]:
    found: dict[Any, set[int]] = {}
    for value, writer in zip(values, writers, strict=True):
        if value and writer is not None:
            found.setdefault(value, set()).add(writer)
    return found


def tells_brokers_apart(values: Sequence[Any], writers: Sequence[int | None]) -> bool:
    """Whether lines of two brokers at least have different values, and no value is that of two."""
    pairs = _pairs(values, writers)
    return len(set().union(*pairs.values())) > 1 and all(len(each) == 1 for each in pairs.values())


def _confuses(values: Sequence[Any], writers: Sequence[int | None]) -> bool:
    """Whether lines of several brokers have one value."""
    return any(len(each) > 1 for each in _pairs(values, writers).values())


def _texts(values: Sequence[Any]) -> list[str]:
    return [each for each in values if isinstance(each, str) and each]


def _first_like(leaves: Leaves, pattern: re.Pattern[str]) -> str:
    """The first key of which nearly all values are like a pattern."""
    for key, values in leaves.items():
        texts = _texts(values)
        if texts and sum(pattern.fullmatch(each) is not None for each in texts) >= _SHARE * len(values):
            return key
    return ""


def _is_time(values: Sequence[Any]) -> bool:
    present = [each for each in values if each is not None]
    return bool(present) and all(timestamp(each).startswith("20") for each in present)


def _time(leaves: Leaves, message: str) -> dict[str, tuple[str, ...]]:
    """The key of the time: the one with most values."""
    times = [key for key, own in leaves.items() if key != message and _is_time(own)]
    return {"time": (max(times, key=lambda key: len(set(leaves[key]))),)} if times else {}
