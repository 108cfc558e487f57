"""The specification language: text to syntax tree to resolved, typed kernel."""
