"""Upper bounds for problem `modes` that need no search (design section 5)."""
