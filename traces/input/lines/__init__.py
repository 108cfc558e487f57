"""Bytes cut into log records: layouts, prefixes, time stamps."""
