"""The split that lets all finish together: identities, brute force, and what it compensates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.formulas.split import equal_latency_split
from msopt.model.sharing import FixedSnr, PowerLimited, Sharing, spectral_efficiency
from msopt.units import db_to_linear
from tests import brute_force
from tests.cases import Description, scenario_of
from tests.strategies import SHARINGS, decades, descriptions
from tests.tolerances import CLOSED_FORM, EXACT

BAND = 20e6


def sharing_of(kind: str, snr_db: list[float]) -> Sharing:
    snr = db_to_linear(np.array(snr_db))
    return FixedSnr(spectral_efficiency(snr)) if kind == "fixed-snr" else PowerLimited(snr * BAND)


busy_times = st.one_of(st.just(0.0), decades(1e-5, 1.0))
triples = st.lists(st.tuples(busy_times, decades(1.0, 1e7), st.floats(-10.0, 40.0)), min_size=1, max_size=8)


@pytest.mark.parametrize("kind", SHARINGS)
@given(triples)
def test_all_finish_together_and_use_the_whole_band(kind: str, devices: list[tuple[float, float, float]]) -> None:
    busy, bits, snr_db = (np.array(column) for column in zip(*devices, strict=True))
    sharing = sharing_of(kind, list(snr_db))
    latency, share = equal_latency_split(busy, bits, sharing, BAND)
    assert np.all(share > 0.0)
    # A share that a low SNR makes insensitive is off by the amplification of `test_radio`.
    assert np.sum(share) == pytest.approx(BAND, rel=1e3 * EXACT)
    sending = bits / sharing.rate(share)
    assert busy + sending == pytest.approx(np.full(busy.size, latency), rel=EXACT)


@pytest.mark.parametrize("kind", SHARINGS)
@given(triples)
def test_nothing_shorter_is_possible(kind: str, devices: list[tuple[float, float, float]]) -> None:
    """A latency below the least needs more than the band, because every device needs more."""
    busy, bits, snr_db = (np.array(column) for column in zip(*devices, strict=True))
    sharing = sharing_of(kind, list(snr_db))
    latency, _ = equal_latency_split(busy, bits, sharing, BAND)
    shorter = float(latency) * (1.0 - 1e-6)
    assert shorter <= busy.max() or np.sum(sharing.bandwidth(bits / (shorter - busy))) > BAND


@given(st.lists(st.tuples(decades(1.0, 1e7), st.floats(-10.0, 40.0)), min_size=1, max_size=8), busy_times)
def test_equal_busy_times_have_a_formula(devices: list[tuple[float, float]], busy: float) -> None:
    bits, snr_db = (np.array(column) for column in zip(*devices, strict=True))
    sharing = sharing_of("fixed-snr", list(snr_db))
    cost = bits / spectral_efficiency(db_to_linear(snr_db))
    latency, share = equal_latency_split(np.full(bits.size, busy), bits, sharing, BAND)
    assert latency == pytest.approx(busy + cost.sum() / BAND, rel=EXACT)
    assert share == pytest.approx(BAND * cost / cost.sum(), rel=EXACT)


def test_two_devices_by_a_quadratic() -> None:
    """c/(x) + c/(x + d) = B has the root x = c/B - d/2 + sqrt((c/B)^2 + d^2/4)."""
    cost, lead = 1e5, 0.03
    sharing = FixedSnr(np.ones(2))
    latency, share = equal_latency_split(np.array([0.05, 0.02]), np.full(2, cost), sharing, BAND)
    unit = cost / BAND
    root = unit - lead / 2.0 + math.sqrt(unit * unit + lead * lead / 4.0)
    assert latency - 0.05 == pytest.approx(root, rel=EXACT)
    assert share == pytest.approx([cost / root, cost / (root + lead)], rel=EXACT)


# Brute force


@given(descriptions(), st.data())
def test_given_lengths_against_brute_force(description: Description, data: st.DataObject) -> None:
    scenario = scenario_of(description)
    lengths = np.array([data.draw(st.integers(0, 12)) for _ in range(scenario.device_count)])
    bits = lengths * scenario.token_payload_bits("heterogeneous")
    busy = lengths * scenario.draft_s_per_token
    latency, share = equal_latency_split(busy, bits, scenario.uplink, scenario.uplink_bandwidth_hz)
    assert latency == pytest.approx(brute_force.deadline_of_lengths(description, lengths.tolist()), rel=CLOSED_FORM)
    assert np.array_equal(share > 0.0, lengths > 0)


# What the split compensates (design section 3, claim)


@pytest.mark.parametrize("kind", SHARINGS)
@given(
    st.lists(st.tuples(busy_times, st.floats(-10.0, 30.0)), min_size=2, max_size=6),
    decades(1e3, 1e6),
    st.floats(1.01, 3.0),
    st.floats(0.1, 10.0),
)
def test_the_weaker_device_gets_more(
    kind: str, devices: list[tuple[float, float]], bits: float, slower: float, weaker_db: float
) -> None:
    """B_k grows with tau_k and with c_k: within one split, and when one device alone gets worse."""
    busy, snr_db = (np.array(column) for column in zip(*devices, strict=True))
    payload = np.full(busy.size, bits)

    def shares(times: np.ndarray, channel_db: np.ndarray) -> np.ndarray:
        return equal_latency_split(times, payload, sharing_of(kind, list(channel_db)), BAND)[1]

    before = shares(busy, snr_db)
    for i in range(busy.size):
        for j in range(busy.size):
            if busy[i] >= busy[j] and snr_db[i] <= snr_db[j]:
                assert before[i] >= before[j] * (1.0 - EXACT)
    worse = busy.copy()
    worse[0] = slower * busy[0] + 1e-4
    assert shares(worse, snr_db)[0] >= before[0] * (1.0 - EXACT)
    faded = snr_db.copy()
    faded[0] -= weaker_db
    assert shares(busy, faded)[0] >= before[0] * (1.0 - EXACT)


# Arrays


@pytest.mark.parametrize("kind", SHARINGS)
def test_rows_are_solved_alone(kind: str) -> None:
    rng = np.random.default_rng(5)
    sharing = sharing_of(kind, [0.0, 10.0, 20.0, -5.0])
    busy = rng.uniform(0.0, 0.1, (2, 3, 4))
    bits = rng.uniform(1e3, 1e6, (2, 3, 4)) * rng.integers(0, 2, (2, 3, 4))
    bits[0, 0] = 0.0
    latency, share = equal_latency_split(busy, bits, sharing, BAND)
    assert latency.shape == (2, 3)
    for place in np.ndindex(2, 3):
        alone, its_share = equal_latency_split(busy[place], bits[place], sharing, BAND)
        assert latency[place] == pytest.approx(alone, rel=EXACT)
        assert share[place] == pytest.approx(its_share, rel=EXACT)
    assert latency[0, 0] == 0.0
    assert not share[0, 0].any()


@pytest.mark.parametrize("kind", SHARINGS)
def test_devices_that_send_nothing_do_not_matter(kind: str) -> None:
    busy, bits = np.array([0.02, 9.0, 0.05]), np.array([1e5, 0.0, 2e5])
    latency, share = equal_latency_split(busy, bits, sharing_of(kind, [3.0, -80.0, 12.0]), BAND)
    without, rest = equal_latency_split(busy[[0, 2]], bits[[0, 2]], sharing_of(kind, [3.0, 12.0]), BAND)
    assert latency == pytest.approx(without, rel=EXACT)
    assert share[[0, 2]] == pytest.approx(rest, rel=EXACT)
    assert share[1] == 0.0
