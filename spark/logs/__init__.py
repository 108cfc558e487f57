"""Logs validated by many processes: read in parts, attributed cluster by cluster, and checked slice by slice.

Everything that is known of logs and of validation is in ``traces``; here is only which process does it, and how what it did comes to the next.
"""
