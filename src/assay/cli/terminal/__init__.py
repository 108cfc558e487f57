"""Reading from and writing to the user: output, progress, interrupts, sizes of memory, and result files.

In: lines with a tone, diagnostics, or one JSON object. Out: bytes on standard output and standard error.

A room of its own: whether a stream is a terminal, a pipe or closed is only asked here.
"""
