"""Random scenarios over the whole range of practice: the cross-check's family, shared by tests and benchmarks."""

import numpy as np

from msopt.arrays import FloatArray
from msopt.model.scenario import Scenario
from msopt.model.sharing import UplinkSharing


def random_scenario(
    seed_or_rng: int | np.random.Generator,
    *,
    devices: tuple[int, int] = (1, 50),
    uplink_sharing: UplinkSharing = "fixed-snr",
    min_draft_length: int | None = None,
    verify_per_token: bool | None = None,
) -> Scenario:
    """Draw K, the devices, the payload, the band and the verification times; log-uniform where decades are spanned.

    K 1-50, acceptance 0.01-0.999, draft time 0.1-200 ms per token, SNR -10 to 40 dB, 10^3-2.4*10^6 bits per
    distribution, 1-100 MHz, verification base 5-400 ms, per device and per token zero in half of the draws.

    Parameters
    ----------
    seed_or_rng : int or Generator
        The same seed gives the same scenario, whatever the sharing, the least length and `verify_per_token` are.
    devices : pair of int
        Least and greatest K.
    uplink_sharing, min_draft_length
        As in `Scenario`.
    verify_per_token : bool, optional
        Whether a token costs verification time (c1 > 0); a coin decides where left out.
    """
    rng = np.random.default_rng(seed_or_rng)
    K = int(rng.integers(devices[0], devices[1] + 1))

    def log_uniform(low: float, high: float, size: int | None = None) -> FloatArray:
        return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), size)))

    bandwidth = float(log_uniform(1e6, 100e6))
    acceptance = rng.uniform(0.01, 0.999, K)
    draft_s = log_uniform(1e-4, 0.2, K)
    uplink_db, downlink_db = rng.uniform(-10.0, 40.0, K), rng.uniform(-10.0, 40.0, K)
    base = float(log_uniform(5e-3, 0.4))
    per_device = float(rng.integers(2) * log_uniform(1e-4, 2e-2))
    coin, per_token = bool(rng.integers(2)), float(log_uniform(1e-5, 2e-3))
    return Scenario(
        name=f"random K={K}",
        acceptance=acceptance,  # type: ignore[arg-type]
        draft_s_per_token=draft_s,
        uplink_snr_db=uplink_db,
        downlink_snr_db=downlink_db,
        verify_base_s=base,
        verify_per_device_s=per_device,
        verify_per_token_s=per_token if (coin if verify_per_token is None else verify_per_token) else 0.0,
        downlink_power_w=float(log_uniform(0.1, 100.0)),
        uplink_bandwidth_hz=bandwidth,
        downlink_bandwidth_hz=bandwidth,
        token_bits=float(rng.integers(15, 35)),
        distribution_bits=float(log_uniform(1e3, 2.4e6)),
        uplink_sharing=uplink_sharing,
        min_draft_length=min_draft_length,
    )


def family(seed: int, devices: int, uplink_sharing: UplinkSharing = "fixed-snr") -> Scenario:
    """Member of the family with a given K, c1 zero and not in turn: zero for even seeds."""
    return random_scenario(
        seed, devices=(devices, devices), uplink_sharing=uplink_sharing, verify_per_token=bool(seed % 2)
    )
