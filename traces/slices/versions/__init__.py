"""One slice as a history of numbered updates: versions, their order, and what contradicts them."""
