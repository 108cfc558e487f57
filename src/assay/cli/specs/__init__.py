"""Commands about a spec: check, prove, simulate, replay, graph, mutate, export, fmt."""
