"""Every tolerance of the tests, relative unless its name says otherwise, and why it is what it is."""

FEW_ROUNDINGS = 4e-15
"""A formula of a handful of operations against exact arithmetic: each rounds once, by 1.1e-16."""

EXACT = 1e-12
"""Numbers that two orders of the same float operations give: hundreds of roundings, none amplified."""

CLOSED_FORM = 1e-9
"""The project's own bar: a closed form against the brute force of the reference cases. Both ends of a root search
stop within 1e-13; what remains is how much a bandwidth amplifies an error of its deadline."""

NEVER_ABOVE = 1e-9
"""The project's own bar: "never above" allows round-off of this size."""

MANY_AS_ONE = 1e-10
"""The project's own bar: scenarios solved together and one by one have the same goodput."""

DECOMPOSITION_MODES = 0.9999
"""The project's own bar: least share of the enumerated optimum that `modes` must reach."""

BASELINE = 1e-4
"""The project's own bar: all-uplink and all-downlink, whose lengths are searched, against enumeration."""

PUBLISHED_DIGITS = 6e-10
"""Right values given by others have ten digits after the point or ten significant ones: half a unit of the last."""

FIVE_DIGITS = 1.1e-5
"""Values printed with five or six significant digits."""

DIFFERENCE_STEP = 1e-5
"""Relative step of a central difference. Its truncation goes with the square (1e-10), its round-off is
1e-16/1e-5 (1e-11): near the best choice for either."""

DIFFERENCE = 1e-6
"""First derivatives by central differences at that step, where the third derivative may be 1e4 times larger."""

PRICE_STEP = 1e-3
"""Relative change of the band behind a price: an optimum is exact to about 1e-13 only, so the step is wider."""

PRICE_ELASTICITY = 2e-6
"""The price as an elasticity, B/G dG/dB, which is at most 1: truncation is the square of the step."""

RELAXED_OPTIMUM = 1e-10
"""The relaxed optimum: three nested searches, the outermost of which stops at 1e-10 in the logarithm of time;
the objective is flat there, but one step off where a device leaves no time to the others."""

INDEPENDENT_OPTIMUM = 1e-7
"""A general-purpose optimiser against the structure: at its answer the objective is flat, so that a length off
by 1e-4 costs 1e-8; line searches on a function with kinks stop there."""

FLAT_ARGUMENT = 1e-5
"""A maximiser's place: the root of the gap in value that double precision can tell, 1e-16, with a margin."""

STANDARD_ERRORS = 4.0
"""A sampled mean may lie this many standard errors from the truth: 6.3e-5 false alarms a comparison."""

SINGLE_PRECISION = 2.0**-24
"""Uniforms drawn in single precision put every probability off by at most this (absolute, per device)."""

OPTIMAL_SHARE = 0.995
"""The project's own bar: at least this share of random cases must end at the optimum; the worst this near to it."""
OPTIMAL = 1e-9
"""A goodput this near the enumerated best is the best: two orders of summation."""
