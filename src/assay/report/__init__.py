"""Answers as text, JSON and JUnit XML. Nothing here prints: each function returns what is to be written."""
