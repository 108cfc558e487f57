"""The reference searches: slow, obvious, and what every other engine is compared with."""
