"""Counterexamples as files: written as JSON or in the Informal Trace Format (ITF), read again, and replayed.

Replay follows a saved trace in a kernel that may have changed since, and says where they part. The formats are
described in ``saved_trace.py`` and ``itf.py``.
"""
