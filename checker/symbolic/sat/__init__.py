"""Gates to clauses, and the SAT solver in a process of its own."""
