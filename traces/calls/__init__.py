"""Histories of calls: each call takes effect at one moment between its beginning and its end (linearizability).

``pairing.py`` makes calls of lines, ``partition.py`` divides them by key, ``history.py`` and ``wing_gong.py`` search an
order. ``growth.py`` says which results can still come, ``window.py`` shows the shortest contradiction, and
``decide.py`` puts them together.
"""
