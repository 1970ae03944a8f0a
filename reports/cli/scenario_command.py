"""The command `msopt scenario`."""

from typing import Any

import msopt
from msopt import ParameterError
from msopt.drawn.from_profiles import about, draw_from_profiles
from msopt.files.profile_json import find_profile
from msopt.files.scenario_toml import to_toml
from msopt.files.whole_files import write_text
from reports.cli import arguments as opt
from reports.shared.inputs import read_served
from reports.shared.output import say, warn

BASE_PRESET = "uldl-qwen25"
"""Where acceptance from a server is all that is given: the preset that the rest is drawn from."""


def scenario(
    preset: opt.PresetName = None,
    *,
    profile: opt.ProfileNames = None,
    task: opt.Tasks = None,
    server_log: opt.ServerLog = None,
    server_model: opt.ServerModel = None,
    pooled_rate: opt.PooledRate = None,
    pooled_length: opt.PooledLength = None,
    mean_length: opt.MeanLength = None,
    devices: opt.Devices = 20,
    seed: opt.DrawSeed = 0,
    bandwidth_hz: opt.Bandwidth = None,
    uplink_power_dbm: opt.UplinkPower = None,
    downlink_power_dbm: opt.DownlinkPower = None,
    power_ratio: opt.PowerRatio = None,
    distribution_bits: opt.DistributionBits = None,
    dataset: opt.Dataset = None,
    cell: opt.CellName = None,
    draft_mean_s: opt.DraftMean = None,
    first_dataset_share: opt.FirstDatasetShare = None,
    fading: opt.Fading = None,
    over_area: opt.OverArea = None,
    output: opt.TomlOutput = None,
) -> None:
    """Draw a scenario from a paper's setting, or from measured profiles, or with the acceptance that a server tells.

    Its comment says whose each number is.
    """
    served = read_served(server_log, server_model, pooled_rate, pooled_length, mean_length)
    warnings: list[str] = []
    radio = {
        "bandwidth_hz": bandwidth_hz,
        "uplink_power_dbm": uplink_power_dbm,
        "downlink_power_dbm": downlink_power_dbm,
        "power_ratio": power_ratio,
    }
    given: dict[str, Any] = {option: value for option, value in radio.items() if value is not None}
    laws: dict[str, Any] = {
        "dataset": dataset,
        "cell": cell,
        "draft_mean_s": draft_mean_s,
        "first_dataset_share": first_dataset_share,
        "fading": fading,
        "over_area": over_area,
    }
    if profile:
        if preset is not None:
            raise ParameterError("a preset and its options do not go with --profile")
        for option, value in laws.items():
            if value is not None:
                raise ParameterError(f"--{option.replace('_', '-')} is of a preset, and does not go with --profile")
        profiles = {name: find_profile(name) for name in profile}
        warnings = [text for found in profiles.values() for text in found.cautions]
        drawn, comment = draw_from_profiles(
            profiles,
            tasks=task or (),
            served=served,
            devices=devices,
            seed=seed,
            distribution_bits=distribution_bits,
            **given,
        )
    else:
        if task or distribution_bits is not None:
            raise ParameterError("--task and --distribution-bits go with --profile")
        if preset is None and served is None:
            raise ParameterError(f"name a preset ({', '.join(msopt.PRESETS)}), or give --profile or --server-log")
        if preset in msopt.bundled.names() and preset not in msopt.PRESETS:
            raise ParameterError(f"{preset} is no preset but a bundled scenario; copy {msopt.bundled.path(preset)}")
        drawn, comment = msopt.draw(
            preset or BASE_PRESET,
            devices=devices,
            seed=seed,
            acceptance=None if served is None else (served.law(devices), about(served)),
            **laws,
            **given,
        )
    text = to_toml(vars(drawn), comment)
    if output is not None:
        write_text(output, text)
    warn([*warnings, *(served.notes if served is not None else ())])
    if output is None:
        say(text, end="")
