"""Engines that check a kernel: each takes the same kernel and answers with the same verdict."""
