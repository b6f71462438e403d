"""Colours of Okabe and Ito, which colour-blind readers can tell apart."""

BLUE, ORANGE, GREEN, GREY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#666666", "#CC79A7"

LINES = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")
"""For lines of one figure, in order; after the last the first comes again, with another dash."""

DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

FILLS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9")
"""For classes, as areas and points; black and grey are kept for everything else."""
