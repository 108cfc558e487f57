"""From what a search found to the results of a report: one verdict for each property, scenario and refinement.

All engines share it, so that the same findings give the same words and exit codes whichever engine found them.
"""
