"""Machine code of a program: built by LLVM, or taken from a cache on disk."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.checker.jit import object_cache
from assay.checker.layout.call_frame import HaltedError
from assay.checker.layout.refinement_image import Flags
from assay.checker.layout.row import LAYOUT_VERSION, Rows
from assay.checker.native.program import GENERATOR_VERSION, Program
from assay.grammar.current_work import doing

LARGE = 1_200_000
"""Modules of at least this many characters get less optimisation: faster compilation is worth more than faster code."""


def _level(program: Program) -> int:
    return 1 if len(program.text) > LARGE else 2


def cache_key(program: Program) -> str:
    """The hash of the program's text, the versions of layout, generator and LLVM, and the processor."""
    return object_cache.cache_key(program.text, LAYOUT_VERSION, GENERATOR_VERSION)


def compile_object(program: Program) -> bytes:
    """The object code of a program."""
    return object_cache.build(program.text, _level(program))


def object_code(program: Program, folder: Path | None = None) -> bytes:
    """The object code of a program, from the cache if it is there and undamaged."""
    return object_cache.kept(cache_key(program), program.text, _level(program), folder)


class NativeProgram:
    """A program that can be called. Two threads must not call it with one context array.

    After ``halt(True)`` all running calls return soon and raise ``HaltedError``.
    """

    def __init__(self, program: Program, folder: Path | None = None) -> None:
        self.program = program
        doing("machine code was made")
        self._loaded = object_cache.LoadedObject(object_code(program, folder))
        function = self._loaded.function
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        self.starts = program.starts
        self._halted = False
        self._set_halt = function("set_halt", None, number)
        self._begin = function("begin", None, pointer) if program.starts is not None else None
        self._expand = function("expand", number, pointer, pointer, number)
        self._inspect = function("inspect", None, pointer, pointer, number, number)
        self._prints = function("prints", None, pointer, number, pointer)
        images = range(len(program.images))
        self._images = [function(f"images_{at}", None, pointer, number, pointer, pointer) for at in images]
        self._canonical = function("canonical_rows", None, pointer, number) if program.symmetric else None
        self._judge = function("judge", None, pointer, number, pointer) if program.conditions else None

    def halt(self, now: bool) -> None:
        """Make calls in other threads return soon (True), or let them run to their end again (False)."""
        self._halted = now
        self._set_halt(int(now))

    @property
    def addresses(self) -> tuple[int, int]:
        """Where ``expand`` and ``inspect`` begin."""
        found = [ctypes.cast(each, ctypes.c_void_p).value or 0 for each in (self._expand, self._inspect)]
        return found[0], found[1]

    def refuse_halted(self) -> None:
        """Raise ``HaltedError`` if calls are cancelled."""
        if self._halted:
            raise HaltedError

    def begin(self, context: Rows) -> None:
        """Write initial states where the context says, continuing where the last call paused."""
        assert self._begin is not None
        self._begin(context.ctypes.data)
        self.refuse_halted()

    def expand(self, context: Rows, rows: Rows) -> int:
        """Write the successors of rows where the context says. Returns how many of the rows were expanded."""
        done: int = self._expand(context.ctypes.data, rows.ctypes.data, len(rows))
        self.refuse_halted()
        return done

    def inspect(self, context: Rows, rows: Rows, base: int) -> None:
        """Check the properties of states in rows, which are numbered from ``base``."""
        self._inspect(context.ctypes.data, rows.ctypes.data, len(rows), base)
        self.refuse_halted()

    def prints(self, rows: Rows) -> Rows:
        """The fingerprints of rows."""
        result = np.zeros(len(rows), np.uint64)
        self._prints(rows.ctypes.data, len(rows), result.ctypes.data)
        return result

    def images(self, at: int, rows: Rows) -> tuple[Rows, Flags]:
        """The abstract images of rows under refinement ``at``, with flags (``layout.refinement_image``) for rows that
        have none."""
        found = np.empty((len(rows), self.program.images[at].words), np.uint64)
        flags = np.empty(len(rows), np.uint8)
        self._images[at](rows.ctypes.data, len(rows), found.ctypes.data, flags.ctypes.data)
        self.refuse_halted()
        return found, flags

    def canonical(self, rows: Rows) -> Rows:
        """The representatives of rows; the rows themselves where the program was made without a symmetry."""
        result = rows.copy()
        if self._canonical is not None:
            self._canonical(result.ctypes.data, len(result))
        return result

    def judge(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """For each row and condition of the program whether it is true, then for each condition whether it is
        undefined."""
        verdicts = np.zeros((len(rows), 2 * self.program.conditions), np.uint8)
        if self._judge is not None:
            self._judge(rows.ctypes.data, len(rows), verdicts.ctypes.data)
        self.refuse_halted()
        return verdicts
