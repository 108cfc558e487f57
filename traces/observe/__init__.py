"""From events to observations: what an execution of the model has to explain, and in which order.

Comes in: events of a log, a kernel and its trace clause. Goes out: observations, each an event as one rule of the
clause sees it. Further the size of the kernel that the log needs, the partial order of the observations, and the
decomposition into slices.

It is a room of its own because nothing here runs the model. The search, the slices and the compiled replay all read the
same observations, so an event is decoded once whichever of them asks.
"""
