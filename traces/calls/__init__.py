"""Histories of calls: each call takes effect at one moment between its beginning and its end (linearizability).

``pairing.py`` makes calls of lines, ``partition.py`` divides them by key, ``history.py`` and ``wing_gong.py`` search an
order, ``window.py`` shows the shortest contradiction, ``decide.py`` puts them together.
"""
