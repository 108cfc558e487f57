"""Line patterns as data: which log lines a system writes, which event each of them reports, and with which typed
fields.

In: TOML files, the built-in ones in ``lines/`` and a user's own. Out: a ``Catalogue`` of ``LinePattern`` objects, and a
``PatternMatcher`` that finds them in a message, given the name of its logger.

This is a room of its own because it knows messages only: files, records, times and processes belong to ``input`` and
``attribution``. ``rules/`` holds the tables that other rooms read (settings, missing logs, choice of a spec).
"""
