"""The compiler of kernels: a kernel becomes an LLVM module that maps a block of packed rows to a block of successor
rows.

In come a kernel and its layout; out comes machine code, with what its caller must know about it (``program.Program``).
Each file writes one kind of function as LLVM text, from expressions that ``checker.lowering`` translates. ``compile.py``
turns the text into machine code. What cannot be compiled is a typed error with a place, and the reference engine is
used instead.
"""
