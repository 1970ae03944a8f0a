"""[UD]'s closed forms against root finding and enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from msopt.formulas.uldl import equal_delay_power, equal_share_delay, uplink_prefix
from tests.strategies import decades
from tests.tolerances import CLOSED_FORM, EXACT, FEW_ROUNDINGS

BAND, BITS = 20e6, 33792.0


@given(st.lists(st.tuples(decades(1e-4, 1e5), st.floats(0.05, 1.0)), min_size=1, max_size=6), st.floats(0.05, 1.0))
def test_lemma_1_for_any_shares(devices: list[tuple[float, float]], used: float) -> None:
    """Delays are equal, powers sum to all there is, and the delay is the bracketed root."""
    snr, weight = (np.array(column) for column in zip(*devices, strict=True))
    share = used * BAND * weight / weight.sum()
    delay, power = equal_delay_power(snr, share, BAND, BITS)
    assert power.sum() == pytest.approx(1.0, rel=FEW_ROUNDINGS)
    rate = share * np.log1p(power * snr * BAND / share) / math.log(2.0)
    assert BITS / rate == pytest.approx(np.full(snr.size, delay), rel=CLOSED_FORM)

    def overdraft(log_delay: float) -> float:
        nats = BITS * math.log(2.0) / (share * math.exp(log_delay))
        return math.log(np.sum(share / BAND * np.expm1(np.minimum(nats, 500.0)) / snr))

    root = brentq(overdraft, math.log(delay) - 3.0, math.log(delay) + 3.0, xtol=1e-15, rtol=1e-15)
    assert delay == pytest.approx(math.exp(root), rel=CLOSED_FORM)


@given(st.lists(decades(1e-4, 1e5), min_size=1, max_size=6), st.integers(0, 5))
def test_equal_shares_have_a_formula(snr: list[float], on_uplink: int) -> None:
    rejected = len(snr) + on_uplink
    inverse = float(np.sum(1.0 / np.array(snr)))
    delay, power = equal_delay_power(snr, np.full(len(snr), BAND / rejected), BAND, BITS)
    assert equal_share_delay(rejected, inverse, BAND, BITS) == pytest.approx(delay, rel=CLOSED_FORM)
    assert power == pytest.approx(1.0 / np.array(snr) / inverse, rel=CLOSED_FORM)


def test_equal_share_delay_of_nobody() -> None:
    assert equal_share_delay([0, 3], [0.0, 0.0], BAND, BITS).tolist() == [0.0, 0.0]


def test_equal_share_delay_at_a_hopeless_channel() -> None:
    """log1p: at an SNR of 1e-25 the rate is still proportional to it."""
    weak, weaker = equal_share_delay([1, 1], [1e25, 1e26], BAND, BITS)
    assert weaker == pytest.approx(10.0 * weak, rel=EXACT)


@given(st.lists(st.tuples(decades(1e-4, 1.0), decades(1e-4, 1.0)), min_size=0, max_size=12))
def test_prefix_against_every_size(delays: list[tuple[float, float]]) -> None:
    up = np.sort([pair[0] for pair in delays])
    down = np.append(np.sort([pair[1] for pair in delays])[::-1], 0.0)
    slowest = np.maximum(np.append(0.0, up), down)
    assert slowest[uplink_prefix(up, down)] == slowest.min()


@pytest.mark.parametrize(
    ("up", "down", "size"),
    [
        ([], [0.0], 0),
        ([1.0], [1.0, 0.0], 0),
        ([2.0], [1.0, 0.0], 0),
        ([1.0], [2.0, 0.0], 1),
        ([1.0, 1.0], [3.0, 2.0, 0.0], 2),
        ([1.0, 2.0, 9.0], [5.0, 4.0, 3.0, 0.0], 2),
    ],
)
def test_prefix_by_hand(up: list[float], down: list[float], size: int) -> None:
    assert uplink_prefix(up, down) == size
