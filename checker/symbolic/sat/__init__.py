"""SAT solving: gates become clauses (Tseitin), and a solver answers.

Two solvers with one purpose each. CaDiCaL answers few large questions, in a child process that can be killed at a time
limit. MiniSat answers many small ones in this process, with a budget of conflicts.
"""
