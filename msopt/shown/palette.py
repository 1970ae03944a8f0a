"""Colours that colour-blind readers tell apart (Okabe and Ito), and two greys.

Their yellow is darker here: a thin line of theirs is lost on white.
"""

BLACK, GREY, PALE = "#000000", "#767676", "#E4E4E4"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#9A8F00"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
DARK_BLUE = "#004B75"
"""Blue that is told from green in grey, too."""

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

Fill = tuple[str, str]
"""Colour and hatch of a bar."""
DRAFTS, SENDS, WAITS = (DARK_BLUE, ""), (ORANGE, "\\\\\\"), (PALE, "")
VERIFIES, CORRECTS = (GREEN, ""), (VERMILION, "///")
"""The steps of a round, alike in every picture and told apart in grey."""
