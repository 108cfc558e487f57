"""The graph of reachable states: exported, collapsed by a view, and asked about its shape."""
