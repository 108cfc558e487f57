"""Validates the slices of a log (for Kafka: partitions), each by itself, on the shared execution that the search found.

Comes in: the accepted shared path and the events of each slice. Goes out: a verdict for each slice, with mismatches
explained. ``slice_validator`` chooses the method: along versions (``versions/``), as a log of its own
(``slice_search``), or for small logs all slices together (``product_search``).

It is a room of its own because it relies on one fact: no slice changes what is shared (docs/design/slices.md).
"""
