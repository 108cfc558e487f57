"""Machine code of a program: built by LLVM, or taken from a cache on disk (docs/design/compile-budget.md)."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.checker.jit import build_object, object_cache
from assay.checker.jit.build_process import BuildProcess
from assay.checker.layout.call_frame import HaltedError
from assay.checker.layout.refinement_image import Flags
from assay.checker.layout.row import LAYOUT_VERSION, Rows
from assay.checker.native.program import GENERATOR_VERSION, Program
from assay.grammar.current_work import doing
from assay.grammar.user_cache import cached, keep

LARGE = 1_200_000
"""Modules of at least this many characters get less optimisation: faster compilation is worth more than faster code."""

SECONDS_A_CHARACTER = 2e-6
"""What better code takes to build, as measured on the bundled specs."""
FIRST_SECONDS = 0.5
"""What any process takes that builds it."""


def _level(program: Program) -> int:
    return 1 if len(program.text) > LARGE else 2


def cache_key(program: Program) -> str:
    """The hash of the program's text, the versions of layout, generator and LLVM, and the processor."""
    return object_cache.cache_key(program.text, LAYOUT_VERSION, GENERATOR_VERSION)


def compile_object(program: Program) -> bytes:
    """The object code of a program."""
    return build_object.build(program.text, _level(program))


def object_code(program: Program, folder: Path | None = None) -> bytes:
    """The object code of a program, from the cache if it is there and undamaged."""
    return object_cache.kept(cache_key(program), program.text, _level(program), folder)


class BetterCode:
    """The better code of a program that runs code made in a hurry.

    It is begun when the program has run for as long as building it takes. Then no run takes more than twice the time of
    the better choice.
    """

    def __init__(self, program: Program, folder: Path | None) -> None:
        self._program = program
        self._folder = folder
        self._begun: float | None = None
        self._building: BuildProcess | None = None
        self._turn = threading.Lock()
        # A fork has a copy of the lock, which may be held for ever in it.
        self._process = os.getpid()
        self.is_wanted = True

    def ready(self) -> bytes | None:
        """The code, once, when it is there; asked again and again, by any thread, while the program runs. A copy of the
        process leaves it to the first.
        """
        # Never waiting: who asks is in the middle of a search.
        if not self.is_wanted or os.getpid() != self._process or not self._turn.acquire(blocking=False):
            return None
        try:
            return self._look()
        except OSError:  # no process, no room for files: the program goes on as it is
            self.is_wanted = False
            return None
        finally:
            self._turn.release()

    def _look(self) -> bytes | None:
        text = self._program.text
        if self._begun is None:
            # Time of the processor, not of the clock: a program that waits gains nothing by better code.
            self._begun = time.process_time()
        if self._building is None:
            if time.process_time() - self._begun > max(FIRST_SECONDS, SECONDS_A_CHARACTER * len(text)):
                self._building = BuildProcess(text, _level(self._program))
            return None
        if not self.is_wanted or not self._building.is_done:
            return None
        self.is_wanted = False
        code = self._building.code()
        if code is not None:
            keep(f"{cache_key(self._program)}.o", code, self._folder)
        return code


def hurried_code(program: Program, folder: Path | None = None) -> tuple[bytes, BetterCode | None]:
    """The object code of a program as soon as it can be had, and what makes better code if this is not the best."""
    # An earlier run may have built it.
    best = cached(f"{cache_key(program)}.o", folder)
    if best is not None:
        return best, None
    key = object_cache.cache_key(program.text, LAYOUT_VERSION, GENERATOR_VERSION, "hurried")
    return object_cache.kept(key, program.text, 0, folder), BetterCode(program, folder)


class NativeProgram:
    """A program that can be called. Two threads must not call it with one context array.

    After ``halt(True)`` all running calls return soon and raise ``HaltedError``. Code made in a ``hurry`` is exchanged
    for better code while the program runs, if it runs for long.
    """

    def __init__(self, program: Program, folder: Path | None = None, *, hurry: bool = False) -> None:
        self.program = program
        doing("machine code was made")
        self.starts = program.starts
        self._halted = False
        self._loaded: list[object_cache.LoadedObject] = []
        code, self._better = hurried_code(program, folder) if hurry else (object_code(program, folder), None)
        self._use(code)

    def _use(self, code: bytes) -> None:
        """Call this code from now on. Other threads may still be in the code before."""
        program = self.program
        loaded = object_cache.LoadedObject(code)
        function = loaded.function
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        self._begin = function("begin", None, pointer) if program.starts is not None else None
        self._expand = function("expand", number, pointer, pointer, number)
        self._inspect = function("inspect", None, pointer, pointer, number, number)
        self._prints = function("prints", None, pointer, number, pointer)
        images = range(len(program.images))
        self._images = [function(f"images_{at}", None, pointer, number, pointer, pointer) for at in images]
        self._canonical = function("canonical_rows", None, pointer, number) if program.symmetric else None
        self._judge = function("judge", None, pointer, number, pointer) if program.conditions else None
        # Each module has a halt flag of its own, and older code may still be running, so all loaded objects are kept.
        self._loaded.append(loaded)
        # New code begins with its flag down, even if calls were cancelled before it was loaded.
        self.halt(self._halted)

    @property
    def hurries(self) -> bool:
        """Whether better code is still to come."""
        return self._better is not None and self._better.is_wanted

    def _improve(self) -> None:
        """Use better code if it has come."""
        code = None if self._better is None else self._better.ready()
        if code is not None:
            self._use(code)

    def halt(self, now: bool) -> None:
        """Make calls in other threads return soon (True), or let them run to their end again (False)."""
        self._halted = now
        for each in self._loaded:
            each.function("set_halt", None, ctypes.c_uint64)(int(now))

    @property
    def addresses(self) -> tuple[int, int]:
        """Where ``expand`` and ``inspect`` begin."""
        self._improve()
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
        self._improve()
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
        # Canonical rows are written in place, and the caller's rows are states of its search.
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
