"""Object code of an LLVM module: built, or taken from a cache on disk, and loaded.

A cached file is named by the hash of everything that it depends on. A damaged file is built again.
"""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding as llvm  # type: ignore[import-untyped]

from assay.grammar.user_cache import cached, keep

TRIPLE = "@TRIPLE@"
"""A placeholder in the text of a module for the target triple."""

_LAYOUT = 4
"""Part of cache keys. Increase it whenever `build` makes other code from the same text."""


@cache
def host() -> tuple[str, str, str]:
    """The target triple, the processor, and its features, as LLVM names them."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target(level: int) -> Any:
    """The target machine that code is built for.

    LLVM places code and its tables wherever memory is free. It aborts where a distance between them exceeds 32 bits, as
    happens in processes with much memory. Therefore the large code model, with absolute addresses, is used. (On 64-bit
    ARM llvmlite allocates an object in one block.)
    """
    triple, cpu, features = host()
    target = llvm.Target.from_triple(triple)
    reloc, codemodel = ("static", "large") if triple.startswith("x86_64") else ("pic", "default")
    return target.create_target_machine(
        cpu=cpu, features=features, opt=level, reloc=reloc, codemodel=codemodel, jit=True
    )


def cache_key(text: str, *versions: object) -> str:
    """The hash of a module's text, the versions of its generator and of LLVM, and the processor."""
    known = (*versions, _LAYOUT, llvmlite.__version__, llvm.llvm_version_info, *host())
    return hashlib.sha256(f"{known}\n{text}".encode()).hexdigest()


def build(text: str, level: int) -> bytes:
    """The object code of a module at optimisation ``level`` 0 to 3; level 1 has few passes, for large modules.

    Level 0 takes an eighth of the time of the others, and its code at most three times as long as theirs.
    """
    machine = _target(level)
    module = llvm.parse_assembly(text.replace(TRIPLE, host()[0]))
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=max(1, level))
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_aggressive_dce_pass()  # most of what is read of a row is not used: the other passes see less
    if level == 1:
        # LLVM's own passes of this level combine instructions again and again, which takes most of their time.
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_aggressive_dce_pass()
    passes.run(module, builder)
    if level > 1:
        builder.getModulePassManager().run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


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
        self._engine = llvm.create_mcjit_compiler(backing, _target(2))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """One of its functions, with ctypes types for result and arguments. It runs without the interpreter's lock."""
        return ctypes.CFUNCTYPE(result, *arguments)(self._engine.get_function_address(name))
