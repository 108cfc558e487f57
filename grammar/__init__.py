"""The specification language: from text to a syntax tree to a resolved and typed kernel, which every engine takes.

The passes in order: ``parsing`` (text to ``syntax``), ``elaborate`` (``syntax`` to ``kernel``, with parameters bound).
``formatting`` goes back from syntax to text. Mistakes are values (``diagnostics``): collected, sorted, rendered in one
place. ``load.py`` runs all passes.
"""
