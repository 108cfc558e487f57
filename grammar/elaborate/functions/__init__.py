"""What functions do beyond being called: how deep they call themselves, and how they are passed to others.

A function comes in as its declaration and the scope of its module; out go numbers of levels, and entities for names.
"""
