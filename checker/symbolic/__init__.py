"""The symbolic engines: the kernel as gates over the bits of a row, bounded search, proofs by induction, and proofs for any size."""
