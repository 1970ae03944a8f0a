"""What each method is, and whose."""

from typing import NamedTuple


class Note(NamedTuple):
    """Whose a method is, and what it does in a few words."""

    whose: str
    what: str


_OURS = "ours"
NOTES: dict[tuple[str, str], Note] = {
    ("homogeneous", "decomposition"): Note(
        "[MS], computed in our way", "the split of Lemma 1 and the better whole neighbour of Theorem 1's length"
    ),
    ("heterogeneous", "decomposition"): Note(
        _OURS, "the convex program by its closed form for each deadline, then the search of method exact, cut short"
    ),
    ("homogeneous", "exact"): Note(_OURS, "the split of Lemma 1, every common length tried"),
    ("heterogeneous", "exact"): Note(
        _OURS, "regions of deadlines and lengths, closed by a multiple-choice bound or by listing what is left"
    ),
    ("heterogeneous", "grid"): Note("[MS] Algorithm 1", "grid over deadline and price of bandwidth, rounded lengths"),
    ("heterogeneous", "fixed"): Note("[MS] Fixed BW&L", "one given length for all, equal shares of the band"),
    ("heterogeneous", "equal-bandwidth"): Note("[MS] Uni-BW", "equal shares of the band, the best lengths with them"),
    ("heterogeneous", "homogeneous"): Note("[MS] Homo", "one length for all, the best split of the band"),
    ("modes", "decomposition"): Note(_OURS, "for each deadline which devices draft, by exact gains; best modes"),
    ("modes", "exact"): Note(_OURS, "proven optimal by transforms of the table of all outcomes; up to 20 devices"),
    ("modes", "greedy"): Note("[UD] Algorithm 1", "from no drafts, one token more to all or to the best device"),
    ("modes", "all-uplink"): Note("[UD] baseline", "every correction by uplink, the lengths we find best for it"),
    ("modes", "all-downlink"): Note("[UD] baseline", "every correction by downlink, the lengths we find best for it"),
    ("modes", "random-modes"): Note(
        "[UD] baseline", "a fair coin for each correction, the lengths we find best for it"
    ),
    ("modes", "uniform-length"): Note("[UD] baseline", "the best common length, all of them tried; best modes"),
    ("modes", "computation-only"): Note("[UD] baseline", "lengths chosen as if corrections took no time; best modes"),
}
ANY_PROBLEM: dict[str, Note] = {
    "server-only": Note(_OURS, "no drafting: one token for each device from every verification"),
    "point-to-point": Note("[MS] P2P", "one device alone with the whole band, the mean over the devices"),
    "centralised": Note("[MS] Cen-SPIN", "drafting and verification at the server, one best length, no radio"),
}


def note(problem: str, method: str) -> Note:
    """The note of a method of a problem."""
    return NOTES.get((problem, method)) or ANY_PROBLEM.get(method, Note("–", "–"))
