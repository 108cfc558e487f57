"""The packed form of states: which bits of a row of 64-bit words hold which variable.

In comes the type of each variable; out come shapes (bit widths and offsets), and functions that encode values and
decode them. The same bytes are used in memory, in level files and between processes. Compiled code, the search and the
reader of a counterexample agree on them here.
"""
