"""One slice along its versions: updates in the order of their numbers, other observations placed between them.

Comes in: the observations of one slice and the shared timeline. Goes out: findings: mismatches, gaps, and a final
frontier.

It is a room of its own because only slices whose lines carry a version (zkVersion, partition epoch) are checked so.
"""
