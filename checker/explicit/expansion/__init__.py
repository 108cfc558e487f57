"""Blocks of packed states expanded by compiled code, by several threads.

In comes a frontier of states, out come candidate successors, sorted by the part of the hash table that owns them, and
counters. Results do not depend on the number of threads: candidates keep the order of the states from which they were
made.
"""
