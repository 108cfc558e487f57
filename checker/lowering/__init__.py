"""Kernel expressions lowered to straight-line code: LLVM text for compiled search, gates for proofs.

In come kernel nodes and a builder; out come symbols, values whose parts are registers or gates. ``expressions`` holds
one file a family of expressions, ``symbols`` the values, ``llvm`` the builder that writes LLVM text. The builder of
gates is ``checker.aig.bit_blaster``. This is a room of its own because both engines take their meaning from it.
"""
