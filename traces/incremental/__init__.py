"""Answers again without starting over: logs that grow, and logs of which some events changed.

Comes in: an answered log and what changed since. Goes out: the answer about the changed log, and the kill rate of
mutants.

It is a room of its own because every shortcut here must give the answer that a check of everything would give. Where
that cannot be shown, it returns None, and the caller checks everything.
"""
