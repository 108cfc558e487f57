"""Values: their types, their canonical order, and how they are shown."""
