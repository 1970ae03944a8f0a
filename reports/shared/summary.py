"""What was read of a scenario, with units and prefixes, so that a person sees a slip of a unit."""

from typing import NamedTuple

import numpy as np

from msopt import Scenario
from msopt.arrays import FloatArray
from msopt.units import db_to_linear, w_to_dbm
from reports.shared.words import number, with_prefix


class Parameter(NamedTuple):
    """One line of the summary: the file's key, the value in the file's unit, and the same for a reader."""

    key: str
    value: str
    reading: str


def parameters(scenario: Scenario) -> list[Parameter]:
    """Every parameter of a scenario; of the devices' numbers the range."""
    low, high = (scenario.length_limits(problem) for problem in ("heterogeneous", "modes"))
    least = (
        f"{low[0]} to {low[1]} token" if low == high else f"{low[0]} to {low[1]} token (problem modes: from {high[0]})"
    )
    return [
        Parameter("devices", str(scenario.device_count), ""),
        _quantity("uplink_bandwidth_hz", scenario.uplink_bandwidth_hz, "Hz", scenario.uplink_sharing),
        _quantity("downlink_bandwidth_hz", scenario.downlink_bandwidth_hz, "Hz"),
        _quantity(
            "downlink_power_w",
            scenario.downlink_power_w,
            "W",
            f"{float(w_to_dbm(scenario.downlink_power_w)):.4g} dBm",
        ),
        _quantity("token_bits", scenario.token_bits, "bit"),
        _quantity(
            "distribution_bits", scenario.distribution_bits, "bit", with_prefix(scenario.distribution_bits / 8, "B")
        ),
        *_times(scenario),
        Parameter("draft_length", least, ""),
        Parameter("acceptance", _range(scenario.acceptance.mean), _law(scenario)),
        Parameter(
            "draft_s_per_token",
            _range(scenario.draft_s_per_token, "s"),
            " to ".join(with_prefix(end, "s", 4) for end in _ends(scenario.draft_s_per_token)),
        ),
        _snr("uplink_snr_db", scenario.uplink_snr_db),
        _snr("downlink_snr_db", scenario.downlink_snr_db),
    ]


def _times(scenario: Scenario) -> list[Parameter]:
    rows = [_quantity("verify_base_s", scenario.verify_base_s, "s")]
    for key in ("verify_per_device_s", "verify_per_token_s"):
        if value := getattr(scenario, key):
            rows.append(_quantity(key, value, "s"))
    if scenario.server_draft_s_per_token is not None:
        rows.append(_quantity("server.draft_s_per_token", scenario.server_draft_s_per_token, "s"))
    return rows


def _quantity(key: str, value: float, unit: str, remark: str = "") -> Parameter:
    plain, read = f"{value:.12g} {unit}", with_prefix(value, unit)
    return Parameter(key, plain, ", ".join(text for text in (read if read != plain else "", remark) if text))


def _ends(values: FloatArray) -> list[float]:
    return sorted({float(np.min(values)), float(np.max(values))})


def _range(values: FloatArray, unit: str = "") -> str:
    return f"{' to '.join(number(end) for end in _ends(values))} {unit}".rstrip()


def _snr(key: str, values_db: FloatArray) -> Parameter:
    ratios = " to ".join(f"{float(db_to_linear(end)):.4g}" for end in _ends(values_db))
    return Parameter(key, _range(values_db, "dB"), f"{ratios} times the noise")


def _law(scenario: Scenario) -> str:
    measured = sum(curve is not None for curve in scenario.acceptance.curves)
    beta = sum(
        curve is None and std > 0.0
        for curve, std in zip(scenario.acceptance.curves, scenario.acceptance.std, strict=True)
    )
    kinds = {"geometric": scenario.device_count - measured - beta, "measured curve, S(1) shown": measured, "Beta": beta}
    present = {kind: count for kind, count in kinds.items() if count}
    return next(iter(present)) if len(present) == 1 else ", ".join(f"{n} {kind}" for kind, n in present.items())
