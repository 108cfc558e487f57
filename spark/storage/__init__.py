"""Files of a job on any file system."""
