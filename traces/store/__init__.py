"""Records packed in columns."""
