"""The explorer: a page on which a model is walked by hand, served on loopback or written as one file.

In: a loaded spec and perhaps a run. Out: objects that the page's script draws. ``session`` answers its questions with the
stepper, ``server`` carries them, ``complete_graph`` answers all of them in advance for a small model.
"""
