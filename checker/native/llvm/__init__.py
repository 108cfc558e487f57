"""Writing LLVM functions."""
