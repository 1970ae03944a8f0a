"""The papers' baselines and algorithms, which the solvers are held against (design sections 4 to 6)."""
