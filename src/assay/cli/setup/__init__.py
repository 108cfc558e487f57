"""Commands about the installation and the diagnostic codes: demo, doctor, explain.

In: no spec and no logs of the user's own. Out: what assay can do, what it runs on, and what a code means.

A room of its own, because these commands must work where the others do not, such as without a compiler or with a
missing package.
"""
