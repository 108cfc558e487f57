"""The reference search: breadth-first and depth-first search with the interpreter, on plain Python values.

It is slow and obvious, and stays so: every other engine is compared with it on random models. In come a kernel and
options, out come visited states, counters and findings. What explains results (scenarios, deadlock reasons,
unsatisfiable guards) is here too, because all engines ask the interpreter for it.
"""
