"""What an editor asks about a spec while it is written, and the language server that answers.

The text of a document comes in, at any moment of its making; diagnostics, declarations, completions and edits go out.
``analysis.py`` and ``names.py`` know no protocol, so that they are tested without one; ``server.py`` speaks it.
"""
