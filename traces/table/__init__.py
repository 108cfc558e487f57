"""All events of a log in columns, with statement ids: events that state the same share a number.

In: the ``RunStream`` events from ``attribution``. Out: an ``EventTable``, and a ``Selection`` of it for what slices
share and for each slice.

This is a room of its own because it makes work on events independent of their number. What follows from a statement is
worked out once. See ``docs/design/statement-ids.md``.
"""
