"""Random simulation: many walks of bounded length, for models whose states are too many to search.

In come a kernel, a seed and the number and length of walks; out comes a report with the first violations, each with its
walk. It never proves anything: a property without a violation is unknown.
"""
