"""The first three sentences of the page: of lengths alike, large gains, other utilities."""

from reports.page.lead import best_of_problems, lead
from reports.shared.rows import Row

SOLUTION: Row = {
    "problem": "modes",
    "goodput_tokens_per_s": 10.0,
    "server_only_tokens_per_s": 5.0,
    "centralised_tokens_per_s": None,
    "closest": "fixed",
    "closest_gain": 0.25,
    "gap": 1e-9,
    "utility": "sum",
    "utility_value": 10.0,
}


def devices(*lengths: int) -> list[Row]:
    return [{"device": f"d{place}", "draft_length": length} for place, length in enumerate(lengths)]


def test_three_sentences() -> None:
    what, gains, certain = lead(SOLUTION, devices(1, 2))
    assert what == "Problem modes does best, with 10 token/s: draft per round 1 at d0, 2 at d1."
    assert gains == "That is 25 % more than the best of the simpler rules (fixed) and 100 % more than no drafts at all."
    assert certain == "It is proven that no control of this problem gives more."


def test_lengths_of_many_devices() -> None:
    assert lead(SOLUTION, devices(*[0] * 20))[0].endswith("draft 0 tokens a round each.")
    assert lead(SOLUTION, devices(*range(20)))[0].endswith("draft between 0 and 19 tokens a round.")


def test_a_multiple_is_not_said_to_be_more() -> None:
    """Of 50 against 1 the first is 50 times as much, not 50 times more; 1 against 50 is 98 % less."""
    far = SOLUTION | {"goodput_tokens_per_s": 50.0, "closest_gain": 0.0, "server_only_tokens_per_s": 1.0}
    assert lead(far | {"closest": None}, devices(1))[1] == "That is 50 times as much as no drafts at all."
    assert "as much as the best of the simpler rules" in lead(far, devices(1))[1]
    assert "98 % less than no drafts" in lead(far | {"goodput_tokens_per_s": 0.02}, devices(1))[1]


def test_of_another_utility_no_goodput_is_proven() -> None:
    """Its bound is one of the utility; the problem that does best has the most of it, not of goodput."""
    fair = SOLUTION | {"utility": "max-min", "utility_value": 3.0}
    other = SOLUTION | {"problem": "heterogeneous", "utility": "max-min", "utility_value": 2.0}
    other |= {"goodput_tokens_per_s": 12.0}
    unknown = other | {"utility_value": None}
    assert best_of_problems([other, fair, unknown]) is fair
    assert best_of_problems([row | {"utility": "sum"} for row in (other, fair)])["problem"] == "heterogeneous"
    assert "no control of this problem has a greater utility (max-min)" in lead(fair, devices(1))[2]
    assert "all goodputs would have to be 2 % greater" in lead(fair | {"gap": 0.02}, devices(1))[2]
