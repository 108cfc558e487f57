"""The shared timeline: the shared execution as a row of states, and which of them a line of a slice can belong to.

Comes in: an accepted shared path. Goes out: positions, their classes, and the intervals in which they are uncertain.

It is a room of its own because both ways to check a slice read it, and it knows nothing of versions.
"""
