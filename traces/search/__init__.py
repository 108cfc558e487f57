"""The search for an execution of the model that explains a partial order of observations.

Comes in: a kernel with its trace clause (``TraceModel``) and a ``PartialOrder``. Goes out: a path (accepted), the
deepest paths (rejected), or the reason why neither is known. A node is what was read of each stream and a state of the
model.

It is a room of its own because it knows nothing of logs, files or slices. ``driver`` runs replay, depth-first search
and SAT in turn. The other modules are the reductions that keep the search small (stuttering, dead ends, ample sets, cut
points).
"""
