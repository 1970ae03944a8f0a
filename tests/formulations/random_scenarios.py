"""Random scenarios over the whole range of practice: the cross-check family."""

import numpy as np

from msopt.scenario import Scenario


def random_scenario(
    seed_or_rng: int | np.random.Generator,
    *,
    devices: tuple[int, int] = (1, 50),
    uplink_sharing: str = "fixed-snr",
    min_draft_length: int | None = None,
) -> Scenario:
    """Draw K, the devices, the payload, the band and the verification times; log-uniform where decades are spanned.

    K 1-50, acceptance 0.01-0.999, draft time 0.1-200 ms per token, SNR -10 to 40 dB, 10^3-2.4*10^6 bits per
    distribution, 1-100 MHz, verification base 5-400 ms, per device and per token zero in half of the draws.
    """
    rng = np.random.default_rng(seed_or_rng)
    K = int(rng.integers(devices[0], devices[1] + 1))

    def log_uniform(low: float, high: float, size: int | None = None) -> np.ndarray:
        return np.exp(rng.uniform(np.log(low), np.log(high), size))

    bandwidth = float(log_uniform(1e6, 100e6))
    return Scenario(
        name=f"random K={K}",
        acceptance=rng.uniform(0.01, 0.999, K),
        draft_s_per_token=log_uniform(1e-4, 0.2, K),
        uplink_snr_db=rng.uniform(-10.0, 40.0, K),
        downlink_snr_db=rng.uniform(-10.0, 40.0, K),
        verify_base_s=float(log_uniform(5e-3, 0.4)),
        verify_per_device_s=float(rng.integers(2) * log_uniform(1e-4, 2e-2)),
        verify_per_token_s=float(rng.integers(2) * log_uniform(1e-5, 2e-3)),
        downlink_power_w=float(log_uniform(0.1, 100.0)),
        uplink_bandwidth_hz=bandwidth,
        downlink_bandwidth_hz=bandwidth,
        token_bits=float(rng.integers(15, 35)),
        distribution_bits=float(log_uniform(1e3, 2.4e6)),
        uplink_sharing=uplink_sharing,
        min_draft_length=min_draft_length,
    )
