"""The answer about a log as one HTML page: no network, no other file, every text of a log escaped."""

from assay.report.logs.html.page import html_report

__all__ = ["html_report"]
