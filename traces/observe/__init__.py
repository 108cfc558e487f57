"""Events bound to a trace clause; the size of the kernel; the partial order; the decomposition into slices."""
