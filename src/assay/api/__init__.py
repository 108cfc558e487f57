"""What ``import assay`` offers: the commands as functions that take and return values.

The command line is a face of these functions: it parses arguments, calls them, prints their answers, and knows signals.
Nothing here prints, exits, or installs a handler. ``assay/__init__.py`` imports each name when it is first used.
"""
