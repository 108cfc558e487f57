"""Random simulation: walks through the states of a model that are too many to be searched."""
