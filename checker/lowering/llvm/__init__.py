"""Writing LLVM text: one function at a time, with constants folded and common subexpressions shared.

The lowering calls the methods of ``FunctionBuilder``. ``aig.bit_blaster`` has the same methods and makes gates instead,
so that every expression is lowered once for both.
"""
