"""Certificates: cubes of bits, as induction finds them, written as statements of the specification language.

A user can read them, put them into the spec as lemmas and have them checked again. Symmetric elements become
quantifiers, so that one statement stands for all permutations of a cube.
"""
