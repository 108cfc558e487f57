"""Containers: log lines are taken out of what collectors, exports and people put around them.

In: a stream of bytes, and the data of ``patterns/containers/``. Out: the lines of each process, host or file that the
container names, with the places that they have in the file that was read.

This is a room of its own because it knows what surrounds lines, and not what lines look like inside.
"""
