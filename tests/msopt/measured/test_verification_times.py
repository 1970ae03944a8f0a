"""Verification times of a schedule: rows as they were measured, the fit between and beyond them, and what is said."""

import numpy as np
import pytest

from msopt.errors import ParameterError
from msopt.measured.profile import Profile
from msopt.measured.served import Served
from msopt.measured.step_times import Timing, Verification, VerificationRow
from msopt.measured.verification_times import VerificationTimes
from msopt.serving.batch_lengths import Schedule, schedule
from tests.profiles import profile, timing, verification
from tests.tolerances import EXACT
from verification.verification_fit import fit_verification


def timed(times: dict[tuple[int, int], float], *, spread: float = 0.01) -> Profile:
    """A profile with these medians [s] by batch and draft length, fitted as a measurement fits them."""
    rows = [
        VerificationRow(batch=batch, draft_length=length, time=timing(median, spread=spread))
        for (batch, length), median in times.items()
    ]
    cells = list(times)
    try:
        fit = fit_verification([b for b, _ in cells], [length for _, length in cells], list(times.values()))
    except ParameterError:  # one batch size only: a line through the rows that draft, by hand
        drafting = [cell for cell in cells if cell[1] > 0]
        slope, base = np.polyfit([length + 1 for _, length in drafting], [times[cell] for cell in drafting], 1)
        line = verification(float(base), 0.0, float(slope)).fit
        fit = line.model_copy(update={"residuals_s": (0.0,) * len(cells)})
    return profile(verification=Verification(rows=tuple(rows), fit=fit))


def affine(base: float, device: float, token: float, lengths: tuple[int, ...]) -> dict[tuple[int, int], float]:
    return {(b, length): base + b * (device + token * (length + 1)) for b in (1, 2, 4, 8) for length in lengths}


def seconds(measured: Profile, batch: int, *lengths: int) -> list[float]:
    return list(VerificationTimes(measured).seconds(batch, np.array(lengths)))


POCKET = {(1, 0): 0.281, (1, 1): 0.944, (1, 2): 1.149, (1, 5): 1.699}
"""A published measurement: the kernel of one row is several times as fast as that of two."""


def pocket(measured: Profile) -> Schedule:
    """Acceptance pooled over drafts of five 61.3 %, a drafting step of 20 ms, one sequence."""
    law = Served.of_pooled(0.613, 5).law(1)
    return schedule(law, VerificationTimes(measured).seconds, lambda _: 0.020, [1], 5, 0.0)


def test_one_row_that_is_fast_pays_more_than_any_draft() -> None:
    found = pocket(timed(POCKET))
    assert found.ranges == ((1, 1, 0),)
    assert found.best_goodput[0] == pytest.approx(1.0 / 0.281, rel=EXACT)
    assert found.best_goodput[0] == pytest.approx(3.56, abs=0.005)
    assert found.goodput_by_length[0, 5] == pytest.approx((1.0 + 5 * 0.613) / (1.699 + 5 * 0.020), rel=0.01)
    assert found.goodput_by_length[0, 1:].max() == pytest.approx(2.29, abs=0.005)


def test_without_rows_of_length_0_the_same_server_would_draft_and_is_told_why() -> None:
    measured = timed({cell: value for cell, value in POCKET.items() if cell[1] > 0})
    assert pocket(measured).best_length[0] > 0
    assert any("length 0 was not timed" in note for note in VerificationTimes(measured).notes([1], 5))


def test_a_fit_that_holds_stands_for_its_noisy_rows_but_not_for_length_0() -> None:
    times = affine(0.04, 0.002, 0.001, (1, 3, 7)) | {(1, 0): 0.02, (2, 0): 0.05, (8, 0): 0.06}
    times[1, 3] *= 1.005
    measured = timed(times)
    fit = measured.verification.fit  # type: ignore[union-attr]
    assert fit.per_token.seconds == pytest.approx(0.001, rel=0.01), "rows of length 0 are not fitted"
    assert VerificationTimes(measured).missed == []
    assert seconds(measured, 1, 0, 3) == pytest.approx([0.02, float(fit.seconds(1, 3))], rel=EXACT)
    assert seconds(measured, 5, 0) == pytest.approx([0.055], rel=EXACT), "between 2 and 8, where 4 was not timed"
    beyond = 0.06 + float(fit.seconds(40, 0) - fit.seconds(8, 0))
    assert seconds(measured, 40, 0) == pytest.approx([beyond], rel=EXACT)


def test_a_fit_that_misses_its_rows_is_not_used() -> None:
    """A hinge: flat as far as 8 positions, then 10 ms each; the least-squares plane misses both sides."""
    times = {(b, length): 0.05 + 0.01 * max(0, b * (length + 1) - 8) for b in (1, 2, 4, 8) for length in (0, 1, 3, 7)}
    measured = timed(times)
    assert VerificationTimes(measured).missed
    for (batch, length), median in times.items():
        assert seconds(measured, batch, length) == pytest.approx([median], rel=1e-9)
    middle = (times[4, 3] + times[4, 7] + times[8, 3] + times[8, 7]) / 4.0
    assert seconds(measured, 6, 5) == pytest.approx([middle], rel=1e-9)
    [note] = VerificationTimes(measured).notes([1, 8], 7)
    fit = measured.verification.fit  # type: ignore[union-attr]
    off = {cell: abs(float(fit.seconds(*cell)) / value - 1.0) for cell, value in times.items() if cell[1]}
    worst = max(off, key=lambda cell: off[cell])
    assert f"by {off[worst]:.0%} at batch size {worst[0]}, length {worst[1]}" in note
    assert "interpolated" in note
    assert f"{sum(value > 0.01 for value in off.values())} of 12 rows" in note
    wide = timed(times, spread=0.9)
    assert VerificationTimes(wide).missed == [], "rows that spread so widely do not speak against the fit"


def test_times_stay_above_0_wherever_they_are_asked_for() -> None:
    ragged = {(1, 7): 0.01, (2, 3): 0.5, (8, 1): 4.0, (8, 7): 0.4, (4, 2): 0.001}
    for spread in (0.01, 0.99):
        measured = timed(ragged, spread=spread)
        for batch in (1, 2, 3, 8, 100_000):
            assert min(seconds(measured, batch, *range(200))) > 0.0


@pytest.mark.parametrize(
    ("lengths", "batches", "longest", "parts"),
    [
        ((0, 1, 3), [1, 8], 3, []),
        ((1, 3), [1, 8], 3, ["length 0 was not timed: times without drafts are extrapolated from length 1"]),
        ((0, 1, 3), [1, 8], 4, ["lengths above 3 was not timed"]),
    ],
)
def test_what_is_extrapolated_is_said(
    lengths: tuple[int, ...], batches: list[int], longest: int, parts: list[str]
) -> None:
    notes = VerificationTimes(timed(affine(0.04, 0.002, 0.001, lengths))).notes(batches, longest)
    assert len(notes) == len(parts)
    assert all(part in note for part, note in zip(parts, notes, strict=True))


def test_batch_sizes_without_length_0_and_below_the_least_are_said() -> None:
    times = affine(0.04, 0.002, 0.001, (1, 3))
    times = {cell: value for cell, value in times.items() if cell[0] > 1} | {(2, 0): 0.03, (4, 0): 0.04}
    assert VerificationTimes(timed(times)).notes([1, 8], 3) == [
        "length 0 was not timed at batch sizes above 4; there it is extrapolated",
        "batch sizes below 2 were not timed; verification there is extrapolated",
    ]
    assert VerificationTimes(timed(times)).notes([2, 4], 3) == []


def test_a_profile_without_times_is_refused() -> None:
    with pytest.raises(ParameterError, match='"invented pair" has no verification times'):
        VerificationTimes(profile(verification=None))


def test_the_spread_that_a_row_is_judged_by_is_its_own() -> None:
    """Two of ten times far off leave the row's 10 % to 90 % wide, one of twenty does not."""
    times = affine(0.04, 0.002, 0.001, (0, 1, 3))
    measured = timed(times)
    rows = list(measured.verification.rows)  # type: ignore[union-attr]
    place = [(row.batch, row.draft_length) for row in rows].index((4, 3))
    true = times[4, 3]
    for off, missed in (([true] * 2, 0), ([true], 1)):
        single = [1.2 * true] * (10 - len(off)) + off if len(off) == 2 else [1.2 * true] * 19 + off
        rows[place] = VerificationRow(batch=4, draft_length=3, time=Timing.of(single))
        grid = Verification(rows=tuple(rows), fit=measured.verification.fit)  # type: ignore[union-attr]
        assert len(VerificationTimes(profile(verification=grid)).missed) == missed
