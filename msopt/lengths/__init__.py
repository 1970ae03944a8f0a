"""[MS]'s problems: draft lengths and the split of the band, relaxed and whole, with proof (design sections 3, 4)."""
