"""Text to syntax tree, and what is wrong with a text in the user's words.

A text is cut into declarations first, and each is parsed by itself with Lark, so that one mistake does not hide the
others. Every node carries its place.
"""
