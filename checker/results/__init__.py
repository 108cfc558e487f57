"""From what a search found to the results of a report."""
