"""Scenarios drawn from a preset: places, fading, draft times and datasets of a seed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.drawn.channel import CELLS, Draws, uniform, unreplaced
from msopt.drawn.presets import ANY_DATASET, PRESETS, TIMES_OF_THE_PAPER, Preset
from msopt.errors import ParameterError, describe, did_you_mean
from msopt.files.comments import sections
from msopt.model.acceptance import Acceptance
from msopt.model.scenario import Scenario
from msopt.model.validation import MOST_DEVICES, Number, check_whole


def draw(  # noqa: PLR0913  (one argument for each thing that a user may set)
    preset: str,
    *,
    devices: int = 20,
    seed: int = 0,
    bandwidth_hz: float | None = None,
    uplink_power_dbm: float | None = None,
    downlink_power_dbm: float | None = None,
    power_ratio: float | None = None,
    dataset: str | None = None,
    cell: str | None = None,
    acceptance: tuple[Acceptance, str] | None = None,
    draft_mean_s: float | None = None,
    first_dataset_share: float | None = None,
    fading: bool | None = None,
    over_area: bool | None = None,
) -> tuple[Scenario, str]:
    """Draw a scenario from a preset.

    Device k of a seed has the same place, fading, draft time and dataset whatever the other arguments are.

    Parameters
    ----------
    preset : str
        A name in PRESETS.
    devices, seed : int
        Number of devices K; seed of numpy's default generator.
    bandwidth_hz : float, optional
        The uplink's and the downlink's band in place of the paper's, at the same transmit powers [Hz]: where the noise
        is a density ([UD], 3GPP) the SNRs fall as it grows; where it is a power ([MS]) they stay.
    uplink_power_dbm, downlink_power_dbm : float, optional
        Power of each device, and of the server, in place of the preset's [dBm].
    power_ratio : float, optional
        P_dl/P_ul where P_dl + K P_ul is fixed at 30 dBm + K 15 dBm [1]; [UD]'s presets only, excludes the
        two powers.
    dataset : str, optional
        The dataset of every device, in any case; by default each device draws one.
    acceptance : tuple of (Acceptance, str), optional
        The law of every device in place of the datasets', and in words whose it is; excludes `dataset`.
    draft_mean_s : float, optional
        Mean draft time in place of the preset's [s/token].
    first_dataset_share : float, optional
        Probability that a device draws the first of the preset's datasets, the others being equally probable, in place
        of equal ones for all; excludes `dataset` and `acceptance`.
    fading, over_area : bool, optional
        Whether Rayleigh fading is drawn; whether places are uniform in the area, not in the distance (of cells that
        have distances). By default as the cell says.

    Returns
    -------
    Scenario
    str
        The comment for the head of its file: how to draw it again, what is the paper's and what is ours.

    Raises
    ------
    ParameterError
        For an unknown name or a number outside its domain, naming the argument.

    Examples
    --------
    >>> cell, comment = draw("multispin-llama2", devices=3, dataset="gsm8k")
    >>> cell.device_names, cell.acceptance.mean.tolist()
    (('device-01', 'device-02', 'device-03'), [0.739, 0.739, 0.739])
    """
    chosen = PRESETS[_one_of("preset", preset, PRESETS)]
    check_whole("devices", devices, 1, MOST_DEVICES)
    check_whole("seed", seed, 0)
    radio = {
        "bandwidth_hz": bandwidth_hz,
        "uplink_power_dbm": uplink_power_dbm,
        "downlink_power_dbm": downlink_power_dbm,
        "power_ratio": power_ratio,
    }
    numbers = {option: value for option, value in radio.items() if value is not None}
    options: dict[str, float | str] = {**numbers}
    laws = {
        "acceptance": acceptance is not None,
        "dataset": dataset is not None,
        "first_dataset_share": first_dataset_share is not None,
    }
    if sum(laws.values()) > 1:
        first, second = [name for name, given in laws.items() if given][:2]
        raise ParameterError(f"{second} and {first} are two sources of one acceptance")
    if cell is not None:
        options["cell"] = other = _one_of("cell", cell, CELLS)
        chosen = replace(chosen, cell=CELLS[other])
    cell_given = chosen.cell.with_options(devices, numbers).with_laws(fading, over_area)
    chosen = replace(chosen, cell=cell_given)
    options |= {name: value for name, value in (("fading", fading), ("over_area", over_area)) if value is not None}
    if draft_mean_s is not None:
        Number(above_zero=True, unit="s").check("draft_mean_s", draft_mean_s)
        options["draft_mean_s"] = draft_mean_s
        chosen = replace(chosen, draft_mean_s=float(draft_mean_s))
    if acceptance is not None:
        chosen = _without_acceptance(chosen)

    place, fade, speed, choice = np.random.default_rng(seed).random((devices, 4)).T
    drawn = (choice * len(chosen.datasets)).astype(np.int64)
    if first_dataset_share is not None:
        options["first_dataset_share"] = first_dataset_share
        drawn = _by_share(choice, first_dataset_share, len(chosen.datasets))
    if dataset is not None:
        options["dataset"] = known = _one_of("dataset", dataset, chosen.datasets)
        drawn[:] = chosen.datasets.index(known)
    scenario = Scenario(
        name=f"{chosen.name} K={devices} seed={seed}",
        verify_base_s=chosen.verify_base_s,
        verify_per_device_s=chosen.verify_per_device_s,
        server_draft_s_per_token=chosen.server_draft_s_per_token,
        token_bits=chosen.token_bits,
        distribution_bits=chosen.distribution_bits,
        max_draft_length=chosen.max_draft_length,
        device_names=numbered_devices(devices),
        acceptance=Acceptance.of([chosen.acceptance[j][1] for j in drawn]) if acceptance is None else acceptance[0],
        # Rounded as the cell rounds its SNRs.
        draft_s_per_token=np.round(chosen.draft_mean_s * uniform(speed, *chosen.draft_spread), 9),
        **chosen.cell.fields(Draws.of(place, fade, seed)),
    )
    return scenario, _comment(chosen, scenario, seed, options, drawn, acceptance and acceptance[1])


def numbered_devices(count: int) -> tuple[str, ...]:
    """The names of drawn devices, all with as many digits."""
    digits = max(2, len(str(count)))
    return tuple(f"device-{k + 1:0{digits}}" for k in range(count))


def _by_share(choice: FloatArray, first_share: float, count: int) -> IntArray:
    """The dataset that each uniform number chooses, the first one with a probability of its own."""
    if isinstance(first_share, bool | str) or not 0.0 <= first_share <= 1.0:
        raise ParameterError(f"first_dataset_share = {describe(first_share)} is not a number from 0 to 1")
    ends = first_share + (1.0 - first_share) * np.arange(count - 1) / (count - 1)
    return np.asarray(np.searchsorted(ends, choice, side="right"), dtype=np.int64)


def _without_acceptance(preset: Preset) -> Preset:
    """The statements of a preset that stay true with the acceptance of other models on other machines."""
    stated = tuple(text for text in preset.stated if not text.startswith("acceptance:"))
    ours = tuple(text for text in preset.ours if text != ANY_DATASET)
    return replace(preset, acceptance=(), stated=stated, ours=(*ours, TIMES_OF_THE_PAPER))


def _comment(
    preset: Preset,
    scenario: Scenario,
    seed: int,
    options: Mapping[str, float | str],
    drawn: IntArray,
    acceptance: str | None,
) -> str:
    command = f"msopt scenario {preset.name} --devices {scenario.device_count} --seed {seed}"
    for option, value in options.items():
        flag = option.replace("_", "-")
        command += f" --{'' if value else 'no-'}{flag}" if isinstance(value, bool) else f" --{flag} {value}"
    law_given = (ANY_DATASET,) if {"dataset", "first_dataset_share"} & set(options) else ()

    def shown(statements: Iterable[str]) -> list[str]:
        kept = [text for text in unreplaced(statements, options) if text not in law_given]
        return [text.format(p=preset, c=preset.cell) for text in kept]

    given = [f"{option} = {value}" for option, value in options.items()]
    if "power_ratio" in options and preset.cell.power_budget_dbm is not None:
        server, device = preset.cell.power_budget_dbm
        given.append(
            f"the ratio makes {preset.cell.uplink_power_dbm:.6g} dBm of a device and "
            f"{preset.cell.downlink_power_dbm:.6g} dBm of the server, whose power and the K devices' powers "
            f"add up to {server:g} dBm + K times {device:g} dBm as in the paper"
        )
    names = np.array(scenario.device_names)
    devices = [
        f"{name}, acceptance {mean:g}: {', '.join(names[drawn == j])}"
        for j, (name, mean) in enumerate(preset.acceptance)
        if np.any(drawn == j)
    ]
    head = [f"{preset.name}: {preset.pair}, in the setting of", preset.paper, "Drawn by", f"  {command}"]
    if acceptance is not None:
        head[:1] = [f"{preset.name} with another acceptance; all else as for", f"{preset.pair}, in the setting of"]
        head.append("with, in place of its own acceptance, what is given below")
    return sections(
        head,
        (
            ("In place of the paper's:", [f"acceptance of every device: {acceptance}"] if acceptance else []),
            ("Given as options:", given),
            ("The paper's:", shown((*preset.cell.stated, *preset.stated))),
            ("Ours, because the paper does not state it or neglects it:", shown((*preset.cell.ours, *preset.ours))),
            ("The dataset of each device:", devices),
        ),
    )


def _one_of(option: str, value: object, known: Iterable[str]) -> str:
    """The known name that a value is, in any case."""
    names = {name.casefold(): name for name in known}
    word = value.casefold() if isinstance(value, str) else ""
    found = names.get(word)
    if found is None:
        hint = did_you_mean(word, names.values())
        raise ParameterError(f"{option} = {describe(value)} is not one of {', '.join(names.values())}{hint}")
    return found
