"""The engines. Each takes a kernel (``grammar.kernel``) and search options, and returns a ``Report`` with one verdict
per property.

``interpreter`` defines what a kernel means; ``reference`` searches with it. All other engines are faster and are tested
against these two: compiled explicit search (``native``, ``explicit``), symbolic search and proof (``symbolic``), random
simulation (``simulate``). ``report`` and ``options`` are what they all share with their callers.
"""
