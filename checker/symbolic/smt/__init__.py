"""The second encoding: kernel expressions and steps as first-order formulas for Z3, read straight off the kernel.

It shares no code with the gates, so that a mistake in the lowering cannot confirm itself. It may allow more steps than
the language does, never fewer: what is inductive here is inductive there.
"""
