"""What functions over arrays ask of the machine: calls of other machine code by its address, and memory ahead of its
use."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


def call_machine(address: int, *arguments: Any) -> int:
    """Call the function at an address. An array is passed as the address of its first element, a number as a word.

    ``python_to_llvm`` writes such a call in place of this function.
    """
    # Only the address of an array is passed: the machine code knows its length.
    passed = [each.ctypes.data if isinstance(each, np.ndarray) else int(each) for each in arguments]
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * len(passed))(address)
    result: int = function(*passed)
    return result


def prefetch(array: Any, place: int) -> None:
    """Bring an element, or a row, into the cache: it is soon read, and may be written.

    ``python_to_llvm`` writes the machine's instruction for this. Nothing else depends on it.
    """
