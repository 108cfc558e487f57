"""What a task does."""
