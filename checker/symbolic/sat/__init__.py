"""SAT solving: gates become clauses (Tseitin), and a solver answers.

Two solvers with one purpose each: CaDiCaL in a child process, which can be killed at a time limit, for few large
questions; MiniSat in this process, with a budget of conflicts, for many small ones.
"""
