"""The shared execution as slices see it."""
