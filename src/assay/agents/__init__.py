"""Assay for coding agents: a server of the Model Context Protocol, and the skill that teaches the language.

In: questions of an agent. Out: short objects, with a reference to the long answer. Each question that may take long is
answered by a process of its own, which ends when the question is cancelled or the agent leaves. ``answers`` are what
that process computes, ``worker`` is the process, ``server`` the tools.
"""
