"""Logs of which each line says what happened: read as columns, and followed by machine code instead of being searched."""
