"""The answer about a log as one HTML page, which needs no network and no other file.

In: a validation, its events, and an overview of the input. Out: the text of the page, with every text of a log escaped.

A room of its own, because the page has a script, a style sheet and a template (``report.js``, ``report.css``,
``report.html.jinja``). ``data`` is the interface between them and Python.
"""

from assay.report.logs.html.page import html_report

__all__ = ["html_report"]
