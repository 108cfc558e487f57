"""From bytes to records: layouts of log lines, the streaming scanner, and compressed files and archives."""
