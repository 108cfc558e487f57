"""Which process run, node and session wrote a record."""
