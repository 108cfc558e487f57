"""Patterns of log lines as data, one TOML file a subject; ``patterns/catalogue.py`` reads them."""
