"""Scenarios that many tests share, as dicts in the shape of a scenario file, and the way from there to msopt."""

import json
from pathlib import Path
from typing import Any

import tomli_w

from msopt.files.scenario_toml import parse
from msopt.model.acceptance import Acceptance
from msopt.model.scenario import Scenario

Description = dict[str, Any]

REFERENCE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "reference.json").read_text(encoding="utf-8")
)
"""Brute-force results, none of them by the formulas under test."""

REFERENCE_NAMES = [case["scenario"]["name"] for case in REFERENCE]


def scenario_of(description: Description) -> Scenario:
    """The Scenario of a dict, by the text of a scenario file."""
    return Scenario(**parse(tomli_w.dumps(description), "name"))


def base(*devices: tuple[float, float, float, float], **changes: dict[str, Any]) -> Description:
    """The base cell with (acceptance, draft_s_per_token, uplink_snr_db, downlink_snr_db) each."""
    keys = ("acceptance", "draft_s_per_token", "uplink_snr_db", "downlink_snr_db")
    tables: Description = {
        "server": {"verify_base_s": 0.2, "verify_per_token_s": 1e-4, "downlink_power_w": 10.0},
        "radio": {"uplink_bandwidth_hz": 20e6, "downlink_bandwidth_hz": 20e6, "uplink_sharing": "fixed-snr"},
        "payload": {"token_bits": 17, "distribution_bits": 33792},
        "limits": {"max_draft_length": 16},
    }
    for table, values in changes.items():
        tables[table] |= values
    named = [{"name": f"dev-{k + 1}", **dict(zip(keys, values, strict=True))} for k, values in enumerate(devices)]
    return {"name": "base", **tables, "devices": named}


def s1(**changes: dict[str, Any]) -> Description:
    """Field scenario S1: one device."""
    return base((0.8, 0.02, 10.0, 25.0), **changes)


def s2(**changes: dict[str, Any]) -> Description:
    """Field scenario S2: two unlike devices."""
    return base((0.8, 0.02, 10.0, 25.0), (0.6, 0.04, -5.0, 10.0), **changes)


def s3(**changes: dict[str, Any]) -> Description:
    """Field scenario S3: three devices, at most 8 tokens."""
    limits = {"max_draft_length": 8} | changes.pop("limits", {})
    devices = (0.8, 0.02, 14.0, 25.0), (0.6, 0.03, 0.0, 10.0), (0.9, 0.04, -6.0, 5.0)
    return base(*devices, limits=limits, **changes)


def with_band(scenario: Scenario, factor: float) -> Scenario:
    """The uplink band times a factor, every received power over noise density the same."""
    return scenario.with_bandwidth(uplink_hz=factor * scenario.uplink_bandwidth_hz)


def permuted(scenario: Scenario, order: list[int]) -> Scenario:
    """The same scenario with its devices in another order."""
    law = scenario.acceptance
    return scenario.replace(
        acceptance=Acceptance.of(law.mean[order], law.std[order], [law.curves[k] for k in order]),
        device_names=tuple(scenario.device_names[k] for k in order),
        draft_s_per_token=scenario.draft_s_per_token[order],
        uplink_snr_db=scenario.uplink_snr_db[order],
        downlink_snr_db=scenario.downlink_snr_db[order],
    )


def stretched(scenario: Scenario, factor: float) -> Scenario:
    """Every duration times a factor: draft and verification times, and both payloads."""
    return scenario.replace(
        draft_s_per_token=factor * scenario.draft_s_per_token,
        verify_base_s=factor * scenario.verify_base_s,
        verify_per_device_s=factor * scenario.verify_per_device_s,
        verify_per_token_s=factor * scenario.verify_per_token_s,
        token_bits=factor * scenario.token_bits,
        distribution_bits=factor * scenario.distribution_bits,
    )
