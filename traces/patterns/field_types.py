"""Texts of log lines converted to typed fields. Each conversion has the name that pattern files use in ``fields``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from assay.traces.event import Field

Conversion = Callable[[str], Field]

_NUMBER = re.compile(r"-?\d+")
_BROKER_STATE = re.compile(r"brokerId=(-?\d+)")
_ENTRY = re.compile(r"(?<!\d)(-?\d+) -> (-?\d+)")
_KEY = re.compile(r"(?:^|, )(\d+)=")
# Kafka's topic names have at most 249 characters; partition names add the number.
_PARTITION = re.compile(r"(?<![^\s,()\[\]])([^\s,()\[\]]{1,260}-\d+)")
_WORD = re.compile(r"[^\s,;()\[\]{}]+")
_UNSIGNED_64 = (1 << 64) - 1


def session(text: str) -> str:
    """A ZooKeeper session id in the form that ZooKeeper prints (``0x`` and lower-case digits).

    The text is that, or Kafka's decimal long.
    """
    # Kafka prints the id as a signed Java long, so that a session of a server with an id above 127 is negative there.
    return hex(int(text, 16) if text.lower().startswith("0x") else int(text) & _UNSIGNED_64)


def hexadecimal(text: str) -> int:
    """The integer of ``1f`` or ``0x1f``."""
    return int(text, 16)


def integers(text: str) -> tuple[int, ...]:
    """The integers of ``1,2``, ``[1, 2]``, ``List(1, 2)`` or ``HashSet(1, 2)``, in the order in which
    they are printed.
    """
    return tuple(int(number) for number in _NUMBER.findall(text))


def brokers(text: str) -> tuple[int, ...]:
    """The broker ids in a list of ids, or in a list of ``BrokerState(brokerId=1, brokerEpoch=2)``."""
    return tuple(int(number) for number in _BROKER_STATE.findall(text)) if "brokerId=" in text else integers(text)


def integer_or_none(text: str) -> int | None:
    """An integer; None for a negative one, which Kafka prints where there is no leader."""
    number = int(text)
    return None if number < 0 else number


def integer_map(text: str) -> Mapping[Field, Field]:
    """The mapping of ``Map(1 -> 60, 3 -> 58)``."""
    return MappingProxyType({int(key): int(value) for key, value in _ENTRY.findall(text)})


def keys(text: str) -> tuple[int, ...]:
    """The keys of ``1=ReplicaState(nodeId=1), 2=ReplicaState(nodeId=2)``, which is how Java prints a map between its
    braces.
    """
    return tuple(int(number) for number in _KEY.findall(text))


def partitions(text: str) -> tuple[str, ...]:
    """The names of partitions, such as ``orders-0``, in a list of them."""
    return tuple(_PARTITION.findall(text))


def words(text: str) -> tuple[str, ...]:
    """The names in a list such as ``a b``, ``[a, b]`` or ``(a;b)``, as texts."""
    return tuple(_WORD.findall(text))


def truth(text: str) -> bool:
    """Whether the text is ``true``; any other text is false."""
    return text == "true"


# Python refuses to convert more than 4,300 digits (CVE-2020-10735). Up to 41 are surely converted; the rest is text.
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,40})")


def scalar(text: str) -> int | bool | str:
    """A text as what it looks like: a whole number, ``true``, ``false``; any other text, such as ``007``, as it is."""
    if _WHOLE.fullmatch(text) is not None:
        return int(text)
    return text == "true" if text in {"true", "false"} else text


def _once(convert: Conversion) -> Conversion:
    """The conversion with a cache: a log repeats the same texts, such as a replica list, many thousand times."""
    return lru_cache(maxsize=4096)(convert)


CONVERSIONS: Mapping[str, Conversion] = MappingProxyType(
    {
        "auto": scalar,
        # Interned: a log repeats few names, and equal texts are one object in memory.
        "text": sys.intern,
        "int": int,
        "hex": hexadecimal,
        "int?": _once(integer_or_none),
        "bool": truth,
        "session": _once(session),
        "ints": _once(integers),
        "brokers": _once(brokers),
        "map": _once(integer_map),
        "keys": _once(keys),
        "partitions": partitions,
        "words": words,
    }
)
