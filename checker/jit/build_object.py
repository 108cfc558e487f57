"""Object code of an LLVM module: the target machine, and the passes of each optimisation level."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]

TRIPLE = "@TRIPLE@"
"""A placeholder in the text of a module for the target triple."""

BUILD_VERSION = 4
"""Part of cache keys. Increase it whenever ``build`` makes other code from the same text."""


@cache
def host() -> tuple[str, str, str]:
    """The target triple, the processor, and its features, as LLVM names them."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine(level: int) -> Any:
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


def build(text: str, level: int) -> bytes:
    """The object code of a module at optimisation ``level`` 0 to 3; level 1 has few passes, for large modules.

    Level 0 takes an eighth of the time of the others, and its code at most three times as long as theirs.
    """
    machine = target_machine(level)
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
