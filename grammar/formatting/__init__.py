"""The formatter: a syntax tree and its comments back to text in the one canonical form (``assay fmt``).

Parsing what it prints gives the same tree, formatting twice changes nothing, and no comment is lost.
"""
