"""Keeps executions of slices in few bytes until they are read.

A log of thousands of slices has hundreds of thousands of steps, each with an event and a state. As objects they take
more memory than the log. Values of the shared execution are stored by their number there.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from assay.checker.report import State
from assay.grammar.identity_memo import IdentityMemo, IdentitySet
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.result import ExecutedStep, Execution

_QUICK = 1
_OWN = -1


@dataclass(slots=True)
class Shelf:
    """The values that packed executions share, in an order that all processes agree on; and the last execution that was
    unpacked.
    """

    values: Sequence[object]
    numbers: IdentityMemo[object, int] = field(default_factory=IdentityMemo)
    last: tuple[bytes, Execution] | None = None

    def __post_init__(self) -> None:
        # By identity, as slices take shared values from the timeline itself. An equal copy is only packed less well.
        self.numbers = IdentityMemo((value, number) for number, value in enumerate(self.values))

    @classmethod
    def of(cls, states: Iterable[State]) -> Shelf:
        """The shelf for executions whose states hold mostly values of these states."""
        return cls(tuple(IdentitySet(value for state in states for value in state)))

    def pack(self, run: Execution) -> bytes:
        """An execution as bytes."""
        steps = [(step.event, step.action, step.arguments, *self._apart(step.state)) for step in run.steps]
        return zlib.compress(to_bytes((self._apart(run.initial), steps)), _QUICK)

    def unpack(self, data: bytes) -> Execution:
        """The execution that was packed."""
        if self.last is None or self.last[0] is not data:
            initial, steps = from_bytes(zlib.decompress(data))
            made = tuple(ExecutedStep(e, act, given, self._whole(*state)) for e, act, given, *state in steps)
            self.last = data, Execution(self._whole(*initial), made)
        return self.last[1]

    def _apart(self, state: State) -> tuple[tuple[int, ...], tuple[object, ...]]:
        """The numbers of the shared values, and the other values."""
        numbers = tuple([self.numbers.get(value, _OWN) for value in state])
        return numbers, tuple([value for number, value in zip(numbers, state, strict=True) if number == _OWN])

    def _whole(self, numbers: Sequence[int], own: Sequence[Any]) -> State:
        others = iter(own)
        return tuple([next(others) if number == _OWN else self.values[number] for number in numbers])


class PackedExecution(Execution):
    """An execution that is unpacked when it is read. The last one stays unpacked."""

    __slots__ = ("_data", "_shelf")
    _data: bytes
    _shelf: Shelf

    def __init__(self, data: bytes, shelf: Shelf) -> None:
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_shelf", shelf)

    @property
    def initial(self) -> State:
        """The initial state."""
        return self._shelf.unpack(self._data).initial

    @property
    def steps(self) -> tuple[ExecutedStep, ...]:
        """The steps."""
        return self._shelf.unpack(self._data).steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Execution) and (self.initial, self.steps) == (other.initial, other.steps)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Execution], tuple[State, tuple[ExecutedStep, ...]]]:
        # Pickled as a plain execution: a shelf would bring all shared values along.
        return Execution, (self.initial, self.steps)
