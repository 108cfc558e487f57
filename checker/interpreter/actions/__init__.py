"""Actions and initial states: which states they lead to."""
