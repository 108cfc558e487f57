"""Answers about logs as text, JSON, JUnit XML and HTML.

In: a ``Validation``, and an overview of the input. Out: lines, JSON values, documents. docs/cli.md describes the JSON.

A room of its own, because a log's answer is about lines and times, not about states of a search. ``history`` turns an
execution into values over time, for ``story`` and for the page in ``html``.
"""
