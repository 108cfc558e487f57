"""Cubes of bits written down as statements of the language."""
