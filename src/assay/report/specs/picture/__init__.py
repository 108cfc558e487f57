"""Runs of a spec as pictures: lanes by actor with messages as arrows, the state as a tree, why a property is false.

In: a kernel and a run. Out: objects for a page's script, a whole page that needs nothing else, or text for PlantUML and
Mermaid. The explorer draws with the same parts. A room of its own, because scripts, style sheets and templates are in
it.
"""
