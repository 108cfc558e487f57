"""The compiled functions of a kernel: actions, initial states, canonical rows, refinement images, trace rules."""
