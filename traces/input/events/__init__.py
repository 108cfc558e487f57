"""Events of any system: the lines of a file as a ``from`` block of a trace clause describes them (docs/events.md).

``decoder.py`` reads one line, ``json_lines.py`` a file.
"""
