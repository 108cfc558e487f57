"""The terminal: output, progress, interrupts, and files that commands write."""
