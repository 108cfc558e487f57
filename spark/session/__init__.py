"""Sessions, and how code gets to executors."""
