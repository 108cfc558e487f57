"""A kernel as a transition system of gates: initial states, one next-state function, and the conditions of properties.

In comes a kernel, out come literals of an and-inverter graph over the bits of a packed row. Expressions are lowered by
``checker.lowering``, the same code that writes LLVM, so that the two engines cannot drift apart.
"""
