"""Where a search keeps its states: the hash table of visited ones, the rows of each level, and level files on disk.

In come blocks of packed rows, out comes which of them are new and under which number. The folder owns the memory
budget: what does not fit moves to files, and a search is resumed from them. It does not know how successors are made.
"""
