"""Scenarios made of another's devices: some of them, or some of them more than once."""

from collections.abc import Sequence

from msopt.arrays import IntArray
from msopt.model.acceptance import Acceptance
from msopt.model.fields import PER_DEVICE
from msopt.model.scenario import Scenario


def chosen_devices(scenario: Scenario, devices: IntArray, names: Sequence[str]) -> Scenario:
    """The scenario with these of its devices, in this order; whatever is given for each device goes along.

    Parameters
    ----------
    scenario : Scenario
    devices : array of int, shape (n,)
        Places in the scenario.
    names : sequence of n str
        What they are called then.
    """
    laws = scenario.acceptance
    given = {row.field: getattr(scenario, row.field) for row in PER_DEVICE}
    return scenario.replace(
        acceptance=Acceptance.of(laws.mean[devices], laws.std[devices], [laws.curves[k] for k in devices]),
        device_names=tuple(names),
        **{name: values[devices] for name, values in given.items() if values is not None},
    )
