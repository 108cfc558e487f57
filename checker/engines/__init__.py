"""Which engine checks a kernel; the race of engines; the native entry."""
