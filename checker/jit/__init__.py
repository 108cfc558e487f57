"""Loops over arrays, written in a small part of Python, as machine code; and object code in general: built by LLVM, kept on disk."""
