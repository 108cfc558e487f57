"""A small compiler: functions over NumPy arrays, written in a subset of Python, become machine code through LLVM.

In comes the source of a decorated Python function; out comes a function that runs without the interpreter's lock.
Object code is cached on disk by content. The hash table of the search, the fair-cycle search and the scanning of logs
are written in it. Kernels of specs use only its object cache.
"""
