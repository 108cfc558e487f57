"""Answers about specs as text, JSON and pictures.

In: a ``Report`` of an engine, a proof, a mutation run, a replay or a state graph. Out: lines, JSON values, and files of
graphs.

A room of its own, one module for each kind of answer. ``text`` and ``check_object`` have what the others share: traces,
explanations, and models. docs/cli.md describes the JSON.
"""
