"""Walking a model by hand: the steps from a state, and why every other step is refused.

A loaded spec comes in; initial states, possible steps, refusals with the guards and their values, and the values of
expressions go out. All of it is the reference evaluator's. The room is apart because nothing here searches: the
terminal, pages and programs drive it one step at a time.
"""
