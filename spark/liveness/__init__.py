"""Fair cycles over tasks."""
