"""Reading logs: paths, archives and streams become records with exact positions.

In: the paths that a user names. Out: one ``FileReading`` for each file, or for each process in a file with prefixes:
matched records, counts, notices.

This is a room of its own because everything about files ends here: compression, rotation, copies, collector prefixes
and layouts (``lines/``). What lines mean is in ``patterns``, who wrote them in ``attribution``.
"""
