"""Commands about logs: validate and coverage."""
