"""Traces saved as JSON or ITF, and followed again in a kernel that may have changed."""
