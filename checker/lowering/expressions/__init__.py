"""Expressions and updates of the kernel lowered to straight-line code.

In come kernel nodes, out come symbols (values whose parts are registers or gates) and the conditions under which they
are undefined. One file a family of expressions, as in ``interpreter.expressions``, whose meaning it must keep. The
target is a builder of LLVM text or of gates.
"""
