"""The base scenarios by name, and what the tests hold against them."""

from typing import Any

from msopt.model.scenario import Scenario

OBJECTIVE_RTOL = 1e-6
ARGMIN_RTOL = 1e-3  # the square root of the objective's
PRICE_RTOL = 1e-3
RESIDUAL = 1e-6  # scaled KKT residuals; the solvers stop at 1e-8


def base_cell(devices: list[tuple[float, float, float, float]], **changes: Any) -> Scenario:
    """Devices (acceptance, draft time, uplink SNR, downlink SNR) in the base cell."""
    acceptance, draft, up, down = (list(column) for column in zip(*devices, strict=True))
    values: dict[str, Any] = {
        "verify_base_s": 0.2,
        "verify_per_token_s": 1e-4,
        "downlink_power_w": 10.0,
        "uplink_bandwidth_hz": 20e6,
        "downlink_bandwidth_hz": 20e6,
        "token_bits": 17,
        "distribution_bits": 33792,
        "acceptance": acceptance,
        "draft_s_per_token": draft,
        "uplink_snr_db": up,
        "downlink_snr_db": down,
    }
    return Scenario(**(values | changes))


S1 = base_cell([(0.8, 0.02, 10, 25)])
S2 = base_cell([(0.8, 0.02, 10, 25), (0.6, 0.04, -5, 10)])
S3 = base_cell([(0.8, 0.02, 14, 25), (0.6, 0.03, 0, 10), (0.9, 0.04, -6, 5)], max_draft_length=8)
