"""Rounds played one after another on a virtual clock: what the synchronous formula says, and what it leaves out."""
