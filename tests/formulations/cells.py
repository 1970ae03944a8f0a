"""The base scenarios by name, and what the tests hold against them."""

from typing import Any

from msopt.model.scenario import Scenario
from tests.cases import base, s1, s2, s3, scenario_of

OBJECTIVE_RTOL = 1e-6
ARGMIN_RTOL = 1e-3  # the square root of the objective's
PRICE_RTOL = 1e-3
RESIDUAL = 1e-6  # scaled KKT residuals; the solvers stop at 1e-8


def base_cell(devices: list[tuple[float, float, float, float]], **changes: Any) -> Scenario:
    """Devices (acceptance, draft time, uplink SNR, downlink SNR) in the base cell."""
    return scenario_of(base(*devices)).replace(**changes)


S1, S2, S3 = (scenario_of(known()) for known in (s1, s2, s3))
