"""What every number of a scenario is worth: the elasticity of the goodput, or of another utility, to each (ours).

An elasticity of 0.4 says: 1 % more of the number brings 0.4 % more. Where the best whole lengths do not change these
stay and the shares follow, so that the derivative of the optimum is that of the goodput of the lengths at hand with
their best split. It is taken by central differences of exactly that. The optimum over real lengths has another; there
the band's is its price times the band over the goodput.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.evaluation import Evaluation, evaluate
from msopt.lengths.relaxed import length_split
from msopt.model.acceptance import Acceptance
from msopt.model.budget import equal_share
from msopt.model.control import Control
from msopt.model.fields import ONE_FOR_ALL, PER_DEVICE
from msopt.model.objective import Utility
from msopt.model.problems import KINDS
from msopt.model.scenario import Scenario
from msopt.units import linear_to_db

if TYPE_CHECKING:
    import pandas as pd

_STEP = 1e-5  # relative: the differences of order its square are 1e-10, and the goodput's round-off over it the same
_ROUND_OFF = 1e-9  # of a utility whose shares are split anew
_SNR_FIELDS = ("uplink_snr_db", "downlink_snr_db")


@dataclass(frozen=True)
class Elasticity:
    """What one number of a scenario is worth.

    Attributes
    ----------
    parameter : str
        The file's key; a ratio in dB counts as the ratio itself, an acceptance as the probability.
    device : str or None
        Whose, where it is one device's.
    value : float
        The number as it is, in the file's unit.
    unit : str
    elasticity : float
        d ln(goodput)/d ln(number) at the whole lengths of the solution, shares split anew; of another utility that of
        the factor on all goodputs that is worth as much.
    """

    parameter: str
    device: str | None
    value: float
    unit: str
    elasticity: float


def elasticities(
    scenario: Scenario, control: Control, evaluation: Evaluation, *, devices: bool = True
) -> tuple[Elasticity, ...]:
    """Elasticities to every number of a scenario that is above 0, the greatest first.

    ParameterError where a limit on shares, or on the time for sending, holds them: the best free split would be better.

    Parameters
    ----------
    scenario : Scenario
    control : Control
        Whose lengths are kept.
    evaluation : Evaluation
        Of that control.
    devices : bool
        Whether to look at every device's own numbers too, and not at the common ones alone.
    """
    utility = evaluation.utility
    if evaluation.limits and utility.gap(evaluation.utility_value, _worth(scenario, control, utility)) > _ROUND_OFF:
        raise ParameterError("a limit holds the shares of the band; elasticities are those of shares that are free")
    found = [
        Elasticity(name, device, value, unit, _elasticity(control, utility, change))
        for name, device, value, unit, change in _numbers(scenario, devices)
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.elasticity)))


class _Changed:
    """The scenario with one number multiplied by a factor."""

    def __init__(self, scenario: Scenario, field: str, device: int | None = None) -> None:
        self.scenario = scenario
        self.field = field
        self.device = device

    def __call__(self, factor: float) -> Scenario:
        scenario, field = self.scenario, self.field
        if field == "acceptance":
            return _more_accepted(scenario, self.device, factor)
        if field == "uplink_bandwidth_hz":
            return scenario.with_bandwidth(uplink_hz=scenario.uplink_bandwidth_hz * factor)
        if field == "downlink_bandwidth_hz":
            return scenario.with_bandwidth(downlink_hz=scenario.downlink_bandwidth_hz * factor)
        if field == "downlink_power_w":
            return scenario.with_downlink_power(scenario.downlink_power_w * factor)
        value = getattr(scenario, field)
        if self.device is None:
            return scenario.replace(**{field: value * factor})
        changed = value.copy()
        if field in _SNR_FIELDS:
            changed[self.device] += float(linear_to_db(factor))
        else:
            changed[self.device] *= factor
        return scenario.replace(**{field: changed})


def _more_accepted(scenario: Scenario, device: int | None, factor: float) -> Scenario:
    """A device's acceptance times a factor at every position, but those whose tokens are all accepted as it is."""
    assert device is not None
    laws = scenario.acceptance
    mean, curves = laws.mean.copy(), list(laws.curves)
    curve = curves[device]
    if curve is None:
        mean[device] *= factor
    else:
        before = np.concatenate([[1.0], curve[:-1]])
        curves[device] = curve * factor ** np.cumsum(curve * (1.0 + 2.0 * _STEP) <= before)
    return scenario.replace(acceptance=Acceptance.of(mean, laws.std, curves))


def _numbers(scenario: Scenario, devices: bool) -> Iterator[tuple[str, str | None, float, str, _Changed]]:
    """Every number that is above 0 and no whole number, with what changes it."""
    for row in ONE_FOR_ALL:
        value = getattr(scenario, row.field)
        if row.kind is float and value is not None and value > 0.0:
            yield row.place, None, float(value), row.unit, _Changed(scenario, row.field)
    for k, name in enumerate(scenario.device_names if devices else ()):
        law = scenario.acceptance
        curve = law.curves[k]
        highest = float(law.mean[k] if curve is None else curve[0])
        if 0.0 < highest < 1.0 / (1.0 + _STEP):
            yield "devices.acceptance", name, highest, "1", _Changed(scenario, "acceptance", k)
        for row in PER_DEVICE:
            values = getattr(scenario, row.field)
            if values is not None and (values[k] > 0.0 or row.field in _SNR_FIELDS):
                yield row.place, name, float(values[k]), row.unit, _Changed(scenario, row.field, k)


def _elasticity(control: Control, utility: Utility, change: _Changed) -> float:
    """The central difference of the logarithm, or of what another utility has in its place."""
    more, less = (_worth(change(factor), control, utility) for factor in (1.0 + _STEP, 1.0 / (1.0 + _STEP)))
    rise = np.log1p(utility.gap(less, more)) if more >= less else -np.log1p(utility.gap(more, less))
    return float(rise / (2.0 * np.log1p(_STEP)))


def _worth(scenario: Scenario, control: Control, utility: Utility) -> float:
    """The utility of the same lengths with their best shares."""
    shares: FloatArray
    if KINDS[control.problem].equal_shares:
        shares = np.full(control.draft_length.shape, equal_share(scenario.uplink_bandwidth_hz, scenario.device_count))
    else:
        shares = length_split(scenario, control.draft_length.astype(float))[1]
    changed = replace(control, bandwidth_hz=shares, not_before_s=None)
    return evaluate(scenario, changed, utility=utility).utility_value


def elasticity_table(found: tuple[Elasticity, ...]) -> "pd.DataFrame":
    """Elasticities as a pandas table; loads pandas."""
    import pandas as pd  # noqa: PLC0415  (a heavy library, loaded only here)

    return pd.DataFrame([vars(one) for one in found])
