"""The functions of a compiled module: actions, initial states, loops over rows, canonical rows, refinement images,
trace rules.

Each file writes one kind of function as LLVM text, from expressions that ``lowering`` translates. ``program.py`` puts
them together, ``compile.py`` turns the text into machine code.
"""
