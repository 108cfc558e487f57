"""Export to TLA+: a kernel becomes a module and a configuration that TLC reads.

It gives users a second opinion, and the tests an independent oracle: TLC's answers are compared with those of the
engines. What TLA+ cannot express is a warning with its place; docs/cli.md lists where the meanings differ.
"""
