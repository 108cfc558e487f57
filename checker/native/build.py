"""Machine code of a program: through LLVM, or from a cache on disk.

A cached object file stands under the hash of everything that it depends on, with a checksum before it; it is written under another name and
then moved, so that processes that build the same program at once do not disturb each other. What is damaged is built again.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np

from assay.checker.layout.refined import Flags
from assay.checker.layout.row import LAYOUT_VERSION, Rows
from assay.checker.native.module import GENERATOR_VERSION, Program

CHECKSUM = 32
LARGE = 2_000_000
"""Characters of a module from which less optimisation is worth more than faster code."""


def default_cache() -> Path:
    """Where object code is kept: ``ASSAY_CACHE``, or a folder of the user's cache."""
    chosen = os.environ.get("ASSAY_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "assay"


@cache
def _machine() -> tuple[str, str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features


def _target(level: int) -> Any:
    triple, cpu, features = _machine()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="default", jit=True
    )


def _level(program: Program) -> int:
    return 1 if len(program.text) > LARGE else 2


def cache_key(program: Program) -> str:
    """The hash of the program's text, the versions of layout, generator and LLVM, and the processor."""
    versions = (LAYOUT_VERSION, GENERATOR_VERSION, llvmlite.__version__, llvm.llvm_version_info, *_machine())
    return hashlib.sha256(f"{versions}\n{program.text}".encode()).hexdigest()


def compile_object(program: Program) -> bytes:
    """The object code of a program."""
    level = _level(program)
    machine = _target(level)
    module = llvm.parse_assembly(program.text.replace("@TRIPLE@", _machine()[0]))
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


def object_code(program: Program, folder: Path | None = None) -> bytes:
    """The object code of a program, from the cache if it is there and whole."""
    place = (folder or default_cache()) / f"{cache_key(program)}.o"
    known = _read(place)
    if known is not None:
        return known
    code = compile_object(program)
    _write(place, code)
    return code


def _read(place: Path) -> bytes | None:
    try:
        content = place.read_bytes()
    except OSError:
        return None
    checksum, code = content[:CHECKSUM], content[CHECKSUM:]
    return code if hashlib.sha256(code).digest() == checksum else None


def _write(place: Path, code: bytes) -> None:
    """Keep object code; a cache that cannot be written costs time in the next run and nothing else."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(file.name).replace(place)
    except OSError:
        return


class Machine:
    """A program that can be called. It is not safe to call from two threads with one context array."""

    def __init__(self, program: Program, folder: Path | None = None) -> None:
        self.program = program
        backing = llvm.parse_assembly(f'target triple = "{_machine()[0]}"')
        self._engine = llvm.create_mcjit_compiler(backing, _target(2))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code(program, folder)))
        self._engine.finalize_object()
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        self._expand = self._function("expand", number, pointer, pointer, number)
        self._inspect = self._function("inspect", None, pointer, pointer, number, number)
        self._prints = self._function("prints", None, pointer, number, pointer)
        images = range(len(program.images))
        self._images = [self._function(f"images_{at}", None, pointer, number, pointer, pointer) for at in images]
        self._canonical = self._function("canonical_rows", None, pointer, number) if program.symmetric else None

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(self._engine.get_function_address(name))

    def expand(self, context: Rows, rows: Rows) -> int:
        """Write the successors of rows where the context says; how many of the rows were expanded."""
        done: int = self._expand(context.ctypes.data, rows.ctypes.data, len(rows))
        return done

    def inspect(self, context: Rows, rows: Rows, base: int) -> None:
        """Check the properties of states in rows, which are numbered from ``base``."""
        self._inspect(context.ctypes.data, rows.ctypes.data, len(rows), base)

    def prints(self, rows: Rows) -> Rows:
        """The fingerprints of rows."""
        result = np.zeros(len(rows), np.uint64)
        self._prints(rows.ctypes.data, len(rows), result.ctypes.data)
        return result

    def images(self, at: int, rows: Rows) -> tuple[Rows, Flags]:
        """The images of rows in the refinement in place ``at``, and flags (``layout.refined``) of those that have none."""
        found = np.empty((len(rows), self.program.images[at].words), np.uint64)
        flags = np.empty(len(rows), np.uint8)
        self._images[at](rows.ctypes.data, len(rows), found.ctypes.data, flags.ctypes.data)
        return found, flags

    def canonical(self, rows: Rows) -> Rows:
        """The rows that stand for rows: themselves, where the program was made without a symmetry."""
        result = rows.copy()
        if self._canonical is not None:
            self._canonical(result.ctypes.data, len(result))
        return result
