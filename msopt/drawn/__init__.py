"""Scenarios that are drawn: from the papers' settings, from profiles, over a radio channel."""
