"""For a server that drafts and verifies itself: the best length by batch size, and its configuration."""
