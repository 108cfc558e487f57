"""Types: sizes, values known before anything runs, and fitting one type into another."""
