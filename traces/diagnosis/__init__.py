"""What the logs lack or mix up: missing logs, clocks, duplicate ids, clusters, and events inferred from later lines.

Comes in: a ``LogReading``. Goes out: the same reading put right (clocks, a later start, redacted names), inferred
events, and notices that an answer carries.

It is a room of its own because it looks at the input before any model does. Words of Kafka are welcome here; the rules
themselves are data in ``traces/patterns/rules``.
"""
