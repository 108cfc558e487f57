"""The compiler of kernels: a kernel becomes an LLVM module that maps a block of packed rows to a block of successor
rows.

In come a kernel and its layout; out comes machine code, with what its caller must know about it
(``functions.program.Program``). ``lowering`` translates expressions to symbolic values (``symbols``), ``llvm`` writes
them as text, ``functions`` assembles the functions of the module. What cannot be compiled is a typed error with a
place, and the reference engine is used instead.
"""
