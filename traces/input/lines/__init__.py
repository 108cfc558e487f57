"""Lines: bytes are cut into records; prefixes, layouts and timestamps of log lines.

In: a stream of bytes. Out: ``RawRecord`` objects, or ``RecordBlock`` arrays in the stock layout, with their positions
in the file.

This is a room of its own because it knows the syntax of a line, and neither files nor the meaning of messages.
"""
