"""All events in columns; equal statements are numbered once."""
