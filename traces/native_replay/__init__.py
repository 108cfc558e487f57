"""Replays logs in machine code where every line names its action with all arguments: nothing is searched.

Comes in: events, as columns of their fields, and rules compiled to machine code. Goes out: an execution, made lazily,
or None. None means only that replay does not apply or got stuck: the search then decides.

It is a room of its own because it is a second road to an acceptance, never to a rejection. It shares the binding and
the partial order with the search, and nothing of its nodes.
"""
