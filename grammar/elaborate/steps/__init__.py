"""What steps do, as expressions over the state before them: ``new(e)`` and ``enabled(a)``.

Kernel statements come in, kernel expressions go out, so that no engine has to know of either.
"""
