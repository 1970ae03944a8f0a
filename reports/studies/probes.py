"""What the claims need beside the figures: small changes of one device, and the tacit assumptions put to the test.

Pure functions of a preset, the number of a draw and its seed. Each gives rows of (probe, value).
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import stats

import msopt
from msopt import PRESETS, Acceptance, Control, ManySolutions, Scenario, solve_many
from msopt.arrays import FloatArray
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.lengths.relaxed import length_split, solve_relaxed
from msopt.model.scenario import Problem
from msopt.model.sharing import spectral_efficiency
from reports.shared.rows import Row
from reports.studies.paper_figures import pair
from reports.studies.settings import over, scenario_at

TABLE_I_STD = {
    "multispin-llama2": {"MBPP+": 0.2472, "GSM8K": 0.3133, "MT-Bench": 0.3127, "SQuAD": 0.3333},
    "multispin-qwen35": {"MBPP+": 0.3413, "GSM8K": 0.2089, "MT-Bench": 0.2232, "SQuAD": 0.1538},
}
"""[MS] Table I: deviation over prompts of the acceptance averaged within a prompt."""

PROBABILITY_BITS = 16
"""What [UD] sends beside a token's index: its probability, at the precision of a distribution's entries."""

_RISES = 1.0 + 1e-9
_WEAKER_DB = 1.0
_MORE_ACCEPTED = 0.1


def probe_ms(
    preset: str, draw_number: int, seed: int, devices: int, settings: Mapping[str, Any] = MappingProxyType({})
) -> list[Row]:
    """The claims of [MS] about one draw."""
    scenario = scenario_at(preset, over(settings, {"devices": devices}), seed)
    best = _free_and_charged(preset, scenario, "heterogeneous")
    planned = Control(problem="heterogeneous", draft_length=best.draft_length[0], bandwidth_hz=best.bandwidth_hz[0])
    found = {**_equal_lengths(scenario), **_longer_drafts(scenario, planned), "rewards": _rewarded(scenario)}
    found |= {**_with_deviations(preset, scenario, planned), **_uploads(best)}
    return _rows(preset, draw_number, seed, found)


def probe_ud(
    preset: str, draw_number: int, seed: int, devices: int, settings: Mapping[str, Any] = MappingProxyType({})
) -> list[Row]:
    """The claims of [UD] about one draw."""
    scenario = scenario_at(preset, over(settings, {"devices": devices}), seed)
    return _rows(preset, draw_number, seed, _uploads(_free_and_charged(preset, scenario, "modes")))


def _rows(preset: str, draw_number: int, seed: int, found: dict[str, float]) -> list[Row]:
    head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed}
    return [head | {"probe": name, "value": float(value)} for name, value in found.items()]


def _one_at_a_time(values: FloatArray, change: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    for k in range(values.size):
        changed = values.copy()
        changed[k] = change[k]
        yield k, changed


def _equal_lengths(scenario: Scenario) -> dict[str, float]:
    """Whether the split makes up for a weak channel: over the devices, and when one of them gets weaker."""
    share = solve_homogeneous(scenario).bandwidth_hz
    weaker = _one_at_a_time(scenario.uplink_snr_db, scenario.uplink_snr_db - _WEAKER_DB)
    rises = [
        solve_homogeneous(scenario.replace(uplink_snr_db=snr)).bandwidth_hz[k] > share[k] * _RISES for k, snr in weaker
    ]
    rank = stats.spearmanr(share, spectral_efficiency(scenario.uplink_snr)).statistic
    return {"compensates: rank": -float(rank), "compensates: change": float(np.mean(rises))}


def _longer_drafts(scenario: Scenario, planned: Control) -> dict[str, float]:
    """What one token more of one device does to the common end phi and to its band; and the band that is used."""
    lengths = planned.draft_length.astype(float)
    phi, share = length_split(scenario, lengths)
    changes = [(k, length_split(scenario, longer)) for k, longer in _one_at_a_time(lengths, lengths + 1.0)]
    return {
        "phi rises": float(np.mean([later > phi * _RISES for _, (later, _) in changes])),
        "share rises": float(np.mean([wider[k] > share[k] * _RISES for k, (_, wider) in changes])),
        "band left": 1.0 - float(np.sum(planned.bandwidth_hz)) / scenario.uplink_bandwidth_hz,
    }


def _rewarded(scenario: Scenario) -> float:
    """In how many devices the best split (real lengths) gives more band when that device alone is accepted more."""
    mean = scenario.acceptance.mean
    share = solve_relaxed(scenario).bandwidth_hz
    better = _one_at_a_time(mean, mean + _MORE_ACCEPTED * (1.0 - mean))
    rises = [
        solve_relaxed(scenario.replace(acceptance=Acceptance.of(changed))).bandwidth_hz[k] > share[k] * _RISES
        for k, changed in better
    ]
    return float(np.mean(rises))


def _with_deviations(preset: str, scenario: Scenario, planned: Control) -> dict[str, float]:
    """What it costs to plan with the mean acceptance alone if Table I's deviations are a Beta law over prompts."""
    varied = with_table_i(preset, scenario)
    return {
        "one mean: got": msopt.evaluate(varied, planned).goodput,
        "one mean: possible": msopt.solve(varied, "heterogeneous").goodput,
    }


def with_table_i(preset: str, scenario: Scenario, part: float = 1.0) -> Scenario:
    """A drawn scenario whose devices' acceptance differs over prompts by Table I's deviation, or part of it."""
    by_mean = {mean: TABLE_I_STD[preset][dataset] for dataset, mean in PRESETS[preset].acceptance}
    mean = scenario.acceptance.mean
    return scenario.replace(acceptance=Acceptance.of(mean, [part * by_mean[float(one)] for one in mean]))


def expected_tokens_with_deviations(preset: str, length: int) -> list[tuple[str, float]]:
    """By dataset: E[N] under the Beta law over E[N] from the mean alone, less 1."""
    found = []
    for dataset, mean in PRESETS[preset].acceptance:
        laws = Acceptance.of([mean, mean], [0.0, TABLE_I_STD[preset][dataset]])
        plain, varied = laws.expected_tokens(np.full(2, float(length)))
        found.append((dataset, float(varied / plain - 1.0)))
    return found


def _free_and_charged(preset: str, scenario: Scenario, problem: Problem) -> ManySolutions:
    """The best controls of a scenario as it is and when the indices and probabilities of tokens are charged for."""
    bits = PRESETS[preset].index_bits + PROBABILITY_BITS
    return solve_many([scenario, scenario.replace(token_bits=bits)], problem)


def _uploads(best: ManySolutions) -> dict[str, float]:
    """The goodput with the charge and without it."""
    return {"upload: got": float(best.goodput[1]), "upload: possible": float(best.goodput[0])}
