"""Syntax tree to text."""
