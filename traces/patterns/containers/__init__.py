"""What log lines come wrapped in, as data: one TOML file a form; ``patterns/container_files.py`` reads them."""
