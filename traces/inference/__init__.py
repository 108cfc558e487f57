"""Inference: what must have happened before the logs begin, or in logs that are missing (docs/design/inferred-events.md).

In: a ``LogReading``. Out: inferred events, in streams of their own, and how many members no line reports. They stand for
lines that are not there: an answer that rests on them says so.

This is a room of its own because everything else here reads lines, and this supposes them. Which facts it reads off
which kinds of lines is data (``patterns/rules/inferred_events.toml``).
"""
