"""Random specs as text, each with its meaning in plain Python, which is worked out from the text's parts alone."""
