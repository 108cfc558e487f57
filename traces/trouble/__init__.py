"""What the logs' own lines of trouble mean: findings, ordered by gravity, and lines that nobody can explain.

``finding.py`` has the types, ``assembly.py`` makes the answer.
"""
