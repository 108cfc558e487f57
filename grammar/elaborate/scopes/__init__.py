"""What names denote where an expression is read."""
