"""The graph of reachable states as data: for export to DOT or GraphML, collapsed by a view, and with statistics of its
shape.

It uses the interpreter, and is meant for graphs that a person looks at, not for large searches.
"""
