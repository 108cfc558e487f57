"""The call frame between compiled code and its caller: one array of 64-bit words, most of them addresses of other
arrays."""

from __future__ import annotations

from enum import IntEnum

from assay.grammar.lazy_dataclass import dataclass


class ContextSlot(IntEnum):
    """Positions in the context array.

    The caller sets the addresses and ``CAPACITY``; ``COUNT`` is how many successors were written. ``STUCK``, ``DEAD``,
    ``TERMINAL`` and the arrays of findings hold the position of the first offender, or ``NEVER``.
    """

    ROWS = 0
    """Address: successor rows, W words each."""
    PARENTS = 1
    """Address: for each successor the position of its predecessor in the block (32 bits)."""
    ACTIONS = 2
    """Address: for each successor the position of its action in ``Kernel.next`` (32 bits)."""
    PRINTS = 3
    """Address: fingerprints of the successors."""
    COUNT = 4
    CAPACITY = 5
    OVERFLOW = 6
    """Set when a successor did not fit: the call must be repeated with more capacity."""
    CURRENT = 7
    """Position of the row that is being expanded."""
    ALIVE = 8
    """Whether the current row had a successor, a cut or an undefined instance."""
    HITS = 9
    """Address: how often each bound cut an instance."""
    DECISIVE = 10
    """Address: a byte for each guard, whether it was ever the only false one."""
    STUCK = 11
    """First row with an instance that has no value."""
    DEAD = 12
    """First row without a successor in which no terminal condition holds."""
    TERMINAL = 13
    """First row without a successor in which a terminal condition is undefined."""
    STEPS = 14
    """Address: for each transition property the first successor where it is false, then the first where it is
    undefined."""
    STATES = 15
    """Address: the same for each property of states, by row; for a ``reachable`` the first where it is true."""
    RESERVE = 16
    """A row is not begun with less free capacity than this, unless it is the first of the call."""

    ARGUMENTS = 17
    """Address: for each successor the arguments of its instance, packed into a word; zero if they are not wanted."""

    POSITIONS = 18
    """Address: for each pick of an initial state the position where the next call continues; initially zeros."""
    PICKS = 19
    """Address: memory for the values that were picked."""
    BUDGET = 20
    """How many picks and states are tried before the enumeration of initial states pauses."""
    PAUSED = 21
    """Whether it paused, or ran out of capacity: another call continues it."""

    RECENT = 22
    """Address: by the lowest bits of its fingerprint the position of a successor (32 bits), some of earlier calls. A
    successor equal to the one there is not written. Zero if all are wanted."""
    DROPPED = 23
    """Address: for each action how many successors were not written."""
    KEPT = 24
    """Set by a successor with a finding: it is written, even if it is equal to another one."""


WORDS = 25
RECENT_ROOM = 4096
"""How many positions there are at ``RECENT``."""
NEVER = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Starts:
    """The arrays for enumerating initial states: a position for each pick, and the words that hold the
    picked values."""

    picks: int
    words: int


class HaltedError(Exception):
    """Compiled code was cancelled before its end; what it wrote is invalid."""
