"""And-inverter graphs: boolean conditions as two-input gates, each gate made once.

In come the operations of the lowering (``checker.lowering``); out come literals of one shared graph. The graph serves
two users, which is why it has a folder of its own. The symbolic engines turn it into clauses. Compiled search evaluates
it on words whose 64 bits belong to 64 states.
"""
