"""The packed form of states: rows of 64-bit words, the same bytes in memory, in batches and on disk."""
