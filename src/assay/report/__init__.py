"""Answers as text, JSON, JUnit XML and HTML. Nothing here prints: each function returns what is to be written.

In: reports of engines, validations of logs, diagnostics. Out: lines with a tone, values that JSON can hold, or
documents.

A room of its own, so that every answer has one wording whichever command, engine or test asks for it. ``specs`` has
answers about specs, ``logs`` answers about logs; the pages docs/errors.md and docs/kafka-bugs.md are made here too.
"""
