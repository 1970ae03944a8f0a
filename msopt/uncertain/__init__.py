"""Acceptance that nobody knows beforehand: laws over prompts, the value of knowing, the worst case, learning online."""
