"""How far a prediction's interval reaches that rests on a measured curve."""

import numpy as np
import pytest

from msopt import bundled
from msopt.files.profile_json import find_profile
from reports.studies.loop_rows import batch_fit_s, prediction_reach
from tests.tolerances import EXACT


def test_the_error_of_a_curve_in_the_tokens_of_a_round() -> None:
    """Drafts of one token: Var = S(1)(1 - S(1))/n; two devices of one task share it, of two tasks they do not."""
    tasks = find_profile(bundled.profile_names()[0]).tasks
    code, chat = tasks["code"], tasks["chat"]

    def error(task: str) -> float:
        point = tasks[task].curve[0]
        return float(np.sqrt(point.survival * (1.0 - point.survival) / point.visited))

    normal = 1.959964  # of 95 %
    one = np.array([1])
    assert prediction_reach([code], one, over_prompts=False) == pytest.approx(normal * error("code"), rel=1e-6)
    both = prediction_reach([code, code], np.array([1, 1]), over_prompts=False)
    assert both == pytest.approx(2.0 * normal * error("code"), rel=1e-6)
    apart = prediction_reach([code, chat], np.array([1, 1]), over_prompts=False)
    assert apart == pytest.approx(normal * np.hypot(error("code"), error("chat")), rel=1e-6)
    assert prediction_reach([code], one, over_prompts=True) >= prediction_reach([code], one, over_prompts=False)


def test_verification_by_the_batch_alone() -> None:
    assert batch_fit_s([1, 2, 4], [0.3, 0.5, 0.9]) == pytest.approx((0.1, 0.2), rel=EXACT)
