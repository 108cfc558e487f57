"""The command line: the one place that prints and that knows of exit codes, terminals and colours."""
