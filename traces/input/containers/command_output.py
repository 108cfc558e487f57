"""What a command's output states, where people sent it in the place of a log."""

from __future__ import annotations

from assay.traces.patterns.container import Container

_MOST = 5


def logged(output: Container, head: bytes) -> str:
    """What a text with these first bytes states, as the end of a sentence; empty if that is not known."""
    text = head.decode("utf-8", "replace")
    facts = [fact.text.format(**found.groupdict()) for fact in output.states for found in fact.pattern.finditer(text)]
    if not facts:
        return ""
    more = f"; and {len(facts) - _MOST:,} more" if len(facts) > _MOST else ""
    return f"; it states: {'; '.join(facts[:_MOST])}{more}"
