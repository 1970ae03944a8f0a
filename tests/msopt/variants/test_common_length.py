"""One length for all: what is known of one length spares the search of others, and no better one is missed."""

from typing import Any

import pytest

from msopt import InfeasibleError, solve
from msopt.model.problems import Problem
from msopt.variants.lengths_of_variants import solve_common_length
from msopt.variants.variant import Variant
from tests.cases import s3, scenario_of


@pytest.mark.parametrize(
    "variant",
    [
        {"utility": "max-min", "token_budget": 9},
        {"utility": "proportional-fair", "resource_block_hz": 1e6},
        {"utility": "admission", "goodput_floor_tokens_per_s": 4.0, "bandwidth_cap_hz": 5e6},
        {"slots": 2, "goodput_floor_tokens_per_s": 0.0001},
    ],
    ids=lambda variant: "-".join(map(str, variant.values())),
)
def test_the_best_common_length_is_the_best_of_all_alone(variant: dict[str, Any]) -> None:
    cell = scenario_of({**s3(), "variant": variant}).replace(max_draft_length=5)
    asked = Variant.of(cell)
    alone = []
    low, high = cell.length_limits("homogeneous")
    for length in range(low, high + 1):
        try:
            alone.append(solve_common_length(cell, asked, lengths=(length, length))[1].utility_value)
        except InfeasibleError:
            continue
    try:
        found = solve_common_length(cell, asked)[1]
    except InfeasibleError:
        assert not alone
        return
    assert found.utility_value == pytest.approx(max(alone), rel=1e-9)
    assert found.utility_bound == pytest.approx(max(alone), rel=1e-9)


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
def test_no_choice_says_why(problem: Problem) -> None:
    cell = scenario_of({**s3(), "variant": {"token_latency_ceiling_s": 1e-3, "token_budget": 6}})
    with pytest.raises(InfeasibleError, match="the limit token latency ceiling excludes every choice"):
        solve(cell, problem)
