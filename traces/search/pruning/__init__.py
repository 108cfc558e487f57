"""What the search leaves out: states from which some line can never be explained."""
