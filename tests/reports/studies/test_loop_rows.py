"""How far a prediction's interval reaches that rests on a measured curve."""

import numpy as np
import pytest

from msopt import Control, bundled, emulate
from msopt.emulation.assumptions import DraftRecord
from msopt.emulation.drawn_rounds import FormulaClock
from msopt.emulation.left_out import FORMULA
from msopt.emulation.sources import PlayedTokens, RoundSources
from msopt.files.profile_json import find_profile
from msopt.measured.task_acceptance import curve_of_counts
from reports.studies.loop_rows import LoopPlay, _Told, _with_planned_bits, batch_fit_s
from reports.studies.prediction_error import prediction_reach
from tests.cases import s1, scenario_of
from tests.tolerances import EXACT


def test_the_error_of_a_curve_in_the_tokens_of_a_round() -> None:
    """Drafts of one token: Var = S(1)(1 - S(1))/n; two devices of one task share it, of two tasks they do not."""
    tasks = find_profile(bundled.profile_names()[0]).tasks
    code, chat = tasks["code"], tasks["chat"]

    def error(task: str) -> float:
        point = tasks[task].curve[0]
        return float(np.sqrt(point.survival * (1.0 - point.survival) / point.visited))

    normal = 1.959964  # of 95 %
    one, two = (np.array([1]), 1.0), (np.array([1, 1]), 1.0)
    assert prediction_reach([code], one, over_prompts=False) == pytest.approx(normal * error("code"), rel=1e-6)
    both = prediction_reach([code, code], two, over_prompts=False)
    assert both == pytest.approx(2.0 * normal * error("code"), rel=1e-6)
    apart = prediction_reach([code, chat], two, over_prompts=False)
    assert apart == pytest.approx(normal * np.hypot(error("code"), error("chat")), rel=1e-6)
    assert prediction_reach([code], one, over_prompts=True) >= prediction_reach([code], one, over_prompts=False)
    less = prediction_reach([code], one, (np.array([1]), -0.4), over_prompts=False)
    assert less == pytest.approx(0.6 * normal * error("code"), rel=1e-6), "an error of one curve is one of both plays"


def test_the_interval_of_a_gain_holds_what_a_better_profile_would_say() -> None:
    """400 profiles of 240 rounds from one law: 95 % intervals of ln(tokens with 3 over tokens with 8) hold the truth.

    Of 400 at 95 % between 361 and 395 hold it, but for one seed in 1000.
    """
    rng, (short, long) = np.random.default_rng(5), (3, 8)
    truth = np.array([0.8, 0.68, 0.55, 0.45, 0.36, 0.3, 0.24, 0.2])
    lengths = np.searchsorted(-truth, -rng.random((400, 240)), side="right")
    task = find_profile(bundled.profile_names()[0]).tasks["code"]

    def tokens(survival: np.ndarray, length: int) -> float:
        return 1.0 + float(survival[:length].sum())

    held = 0
    for accepted in lengths:
        kept = [int(np.sum(accepted >= place)) for place in range(1, 9)]
        own = task.model_copy(update={"curve": curve_of_counts([240, *kept[:-1]], kept)})
        found = np.array(own.survival)
        each = [(np.array([n]), s / tokens(found, n)) for n, s in ((short, 1.0), (long, -1.0))]
        reach = prediction_reach([own], *each, over_prompts=False)
        ratio, true = (np.log(tokens(law, short) / tokens(law, long)) for law in (found, truth))
        held += abs(ratio - true) <= reach
    assert 361 <= held <= 395


def test_verification_by_the_batch_alone() -> None:
    assert batch_fit_s([1, 2, 4], [0.3, 0.5, 0.9]) == pytest.approx((0.1, 0.2), rel=EXACT)


def test_what_shorter_messages_are_worth() -> None:
    """Drafts sent with a tenth of the planned bits: the uplink takes a tenth, all else is as it was."""
    cell = scenario_of(s1())
    control = Control(problem="heterogeneous", draft_length=[2], bandwidth_hz=[cell.equal_share_hz])
    tokens = PlayedTokens(*(np.full((32, 1), count) for count in (2, 1, 2)))
    planned = 2 * (cell.token_bits + cell.distribution_bits)
    bits = np.full((32, 1), round(planned / 10))
    short = PlayedTokens(tokens.drafted, tokens.accepted, tokens.tokens, bits, np.zeros_like(bits))
    clock = FormulaClock(cell, FORMULA, np.random.SeedSequence(0))
    long, built = (emulate(cell, control, 32, sources=RoundSources(_Told(one), clock)) for one in (tokens, short))
    again = _with_planned_bits(cell, LoopPlay("fixed", (), "seen", control, built, nothing_known()))
    assert again.goodput == pytest.approx(long.goodput, rel=EXACT)
    upload_s = long.upload_end_s - long.draft_end_s
    assert built.upload_end_s - built.draft_end_s == pytest.approx(upload_s / 10, rel=1e-3)
    saved_s = 0.9 * float(upload_s[0, 0])
    assert long.round_s[0] - built.round_s[0] == pytest.approx(saved_s, rel=1e-3)


def nothing_known() -> DraftRecord:
    return DraftRecord(*(np.zeros((32, 1), dtype=np.int64) for _ in range(3)), np.zeros((32, 1, 2)))
