"""Logs that grow, changed logs, mutants of logs."""
