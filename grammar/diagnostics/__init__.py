"""Diagnostics: mistakes as values, with a code, a place in the source and notes.

In come findings of every pass, out comes text for people. The table of codes is closed: every code that assay can print
is in ``codes.py`` with an explanation, and docs/errors.md is generated from it.
"""
