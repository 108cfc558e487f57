"""Values of all elements: folds, sums, and the only element of a set."""
