"""Line shapes as data: which log lines a system writes, what event each states, with which typed fields."""
