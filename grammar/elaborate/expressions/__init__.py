"""Expressions as written become typed expressions of the kernel.

In come a syntax node, its scope and the type that its place wants (a hint). Out comes a kernel node with its type, or a
diagnostic. Functions are expanded, patterns become tests and payload reads, names become variables or locals.
"""
