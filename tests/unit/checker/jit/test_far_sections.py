"""Machine code runs wherever its parts come to lie: what is small may find room in a hole that is far from the rest."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOAD = """
import ctypes, sys
from assay.checker.jit import object_cache as objects
from assay.checker.jit.build_object import TRIPLE, build

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE, RESERVED = 4096, 0x4022  # private, anonymous, and no memory for it

LINES, BLOCK = 8_000, 64 << 10
bodies = "\\n".join(f"  %x{i} = mul i64 %y{i - 1}, {2 * i + 3}\\n  %y{i} = xor i64 %x{i}, {i}" for i in range(1, LINES))
table = ", ".join(f"i64 {i * i}" for i in range(64))
text = f'''
target triple = "{TRIPLE}"
@table = internal constant [64 x i64] [{table}]
define i64 @asked(i64 %y0) {{
{bodies}
  %place = getelementptr [64 x i64], [64 x i64]* @table, i64 0, i64 %y0
  %found = load i64, i64* %place
  %sum = add i64 %found, %y{LINES - 1}
  ret i64 %sum
}}
'''
code = build(text, 1)
whole = libc.mmap(None, 16 << 30, 0, RESERVED, -1, 0)
while libc.mmap(None, BLOCK, 0, RESERVED, -1, 0) > whole:
    pass  # what is free above is filled up
for at in range(1, 60):  # holes of few pages: room for a table, and for no code
    libc.munmap(whole + (at << 28), PAGE * 4)
loaded = [objects.LoadedObject(code) for _ in range(10)]
ask = [each.function("asked", ctypes.c_int64, ctypes.c_int64) for each in loaded]
assert ask[0](9) - ask[0](8) != 0 and {each(9) for each in ask} == {ask[0](9)}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="holes are made by the system calls of Linux")
def test_sections_may_lie_far_apart() -> None:
    found = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
