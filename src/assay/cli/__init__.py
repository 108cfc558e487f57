"""The command line: the one place that prints, and that knows of exit codes, terminals and colours.

In: the arguments of the process. Out: text or one JSON object on standard output, diagnostics on standard error, and an
exit code.

A room of its own, so that every other package returns values. ``start`` is the entry point, ``main`` has the commands
and turns exceptions into diagnostics. Each command is a module in ``specs``, ``logs`` or ``setup``; ``terminal``
writes.
"""
