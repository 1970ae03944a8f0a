"""Colours that colour-blind readers tell apart (Okabe and Ito), and two greys."""

BLACK, GREY, PALE = "#000000", "#767676", "#E4E4E4"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

SERIES = (
    (BLUE, "o", "-"),
    (VERMILION, "s", "--"),
    (GREEN, "^", "-."),
    (PURPLE, "D", ":"),
    (ORANGE, "v", "-"),
    (SKY, "P", "--"),
    (BLACK, "X", "-."),
    (GREY, "*", ":"),
)
"""Colour, marker and line of curves that have no look of their own."""

DRAFTS, SENDS, WAITS, VERIFIES, CORRECTS = BLUE, ORANGE, PALE, GREEN, VERMILION
"""The steps of a round, alike in every picture."""
