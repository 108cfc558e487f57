"""What an incident meant: for how long measured conditions held, and which events are noted.

Comes in: accepted executions (shared and of slices) and the times of their lines. Goes out: outages with bounds on
their duration, and remarks on events.

It is a room of its own because it needs an execution and never changes a verdict.
"""
