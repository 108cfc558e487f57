"""The search for an execution of the model that explains a trace."""
