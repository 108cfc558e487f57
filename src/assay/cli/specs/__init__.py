"""Commands about a spec: check, prove, simulate, replay, graph, mutate, export, fmt.

In: a spec, bindings of its parameters, and options of a search. Out: the report of an engine as text or JSON, result
files, and an exit code.

A room of its own, one module for each command; ``spark_options`` has what ``assay check --engine spark`` adds.
"""
