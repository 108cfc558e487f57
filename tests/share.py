"""A part of the tests, another one each day: for machines that are too slow for all of them in the time there is."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32


class Share(NamedTuple):
    """So many percent of the tests; which ones, depends on a word."""

    percent: int
    word: str

    @staticmethod
    def of(text: str) -> Share:
        """That of ``PERCENT:WORD``; raises ValueError for anything else."""
        percent, _, word = text.partition(":")
        return Share(int(percent), word)

    def has(self, name: str) -> bool:
        """Whether a test of this name is among them."""
        return crc32(f"{self.word} {name}".encode()) % 100 < self.percent
