"""The margins by which floats are compared, one for each question that several searches ask."""

FITS = 1.0 + 1e-12
"""What is this much too much still fits: sums of hundreds of roundings, a length divided out of its own product."""

IMPROVES = 1.0 + 1e-13
"""A goodput is better from here on; less may be the order in which its tokens were added."""

RISES = 1.0 + 1e-14
"""Dinkelbach's iterates rise until only the rounding of one ratio is left, which is less than this."""
