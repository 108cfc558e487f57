"""Kernels as machine code: a block of packed rows in, a block of successor rows out, through LLVM."""
