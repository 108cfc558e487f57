"""Compiled code for executors, sent as the text of its LLVM module. Each executor compiles it for its own processor."""

from __future__ import annotations

import json
from functools import cache

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.layout.row import RowLayout
from assay.checker.native.compile import NativeProgram
from assay.checker.native.program import Program
from assay.spark.storage.filesystem import Storage


def pack(compiled: Compiled, text: Program) -> bytes:
    """The content of the file that executors read."""
    content = {
        "text": text.text,
        "symmetric": text.symmetric,
        "conditions": text.conditions,
        "words": compiled.layout.words,
        "hits": compiled.hits,
        "guards": compiled.guards,
        "states": compiled.states,
        "steps": compiled.steps,
        "actions": compiled.actions,
        "identity": compiled.identity.hex(),
    }
    return json.dumps(content).encode()


def unpack(content: bytes) -> Compiled:
    """The code in a file, compiled, or taken from the executor's cache. The names and types of states are not part
    of it.
    """
    found = json.loads(content)
    # Tasks see rows only; the driver alone turns them into states with names.
    layout = RowLayout(found["words"], ())
    hits, guards = tuple(found["hits"]), tuple((action, label) for action, label in found["guards"])
    program = Program(found["text"], layout, hits, (), (), (), found["symmetric"], found["conditions"])
    return Compiled(
        NativeProgram(program), layout, hits, guards, tuple(found["states"]), tuple(found["steps"]),
        found["actions"], bytes.fromhex(found["identity"])
    )  # fmt: skip


@cache
def load(uri: str, name: str) -> Compiled:
    """The code in a file of a work directory, compiled once in each process. Raises ``OSError``."""
    return unpack(Storage(uri).read(name))
