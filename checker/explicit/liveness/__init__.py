"""Fair cycles over packed rows."""
