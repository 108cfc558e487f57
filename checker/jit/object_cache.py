"""Object code of an LLVM module: taken from a cache on disk, else built (``build_object.py``), and loaded.

A cached file is named by the hash of everything that it depends on. A damaged file is built again.
"""

from __future__ import annotations

import ctypes
import hashlib
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding as llvm  # type: ignore[import-untyped]

from assay.checker.jit.build_object import BUILD_VERSION, build, host, target_machine
from assay.grammar.user_cache import cached, keep


def cache_key(text: str, *versions: object) -> str:
    """The hash of a module's text, the versions of its generator and of LLVM, and the processor."""
    # `host` names the processor: a cache in a home folder may serve machines of several kinds.
    known = (*versions, BUILD_VERSION, llvmlite.__version__, llvm.llvm_version_info, *host())
    return hashlib.sha256(f"{known}\n{text}".encode()).hexdigest()


def kept(key: str, text: str, level: int, folder: Path | None = None) -> bytes:
    """The object code of a module, from the cache if it is there and undamaged."""
    name = f"{key}.o"
    code = cached(name, folder)
    if code is None:
        code = build(text, level)
        keep(name, code, folder)
    return code


class LoadedObject:
    """Object code in memory, valid as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        backing = llvm.parse_assembly(f'target triple = "{host()[0]}"')
        self._engine = llvm.create_mcjit_compiler(backing, target_machine(2))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """One of its functions, with ctypes types for result and arguments. It runs without the interpreter's lock."""
        return ctypes.CFUNCTYPE(result, *arguments)(self._engine.get_function_address(name))
