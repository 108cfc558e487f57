"""Which engine checks a kernel, and how two engines race on the same question.

In come a kernel, search options and the engine's name (or ``auto``). Out comes the report of the engine that answered,
with the reason why it was chosen. Engines do not know each other: everything that compares or combines them is here.
"""
