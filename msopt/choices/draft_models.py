"""Several draft models on a device: each with its own acceptance, time and memory (ours)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.files.profile_json import task_of
from msopt.files.profile_keys import draft_seconds
from msopt.measured.profile import Profile
from msopt.model.acceptance import Acceptance
from msopt.model.scenario import Scenario
from msopt.variants.action_table import ActionTable


@dataclass(frozen=True, kw_only=True, eq=False)
class DraftModel:
    """One model that devices may draft with.

    Attributes
    ----------
    name : str
    acceptance : Acceptance
        Of each of K devices.
    draft_s_per_token : array, shape (K,)
        Of each device [s].
    memory_bytes : float
        What it takes of a device's memory [byte].
    """

    name: str
    acceptance: Acceptance
    draft_s_per_token: FloatArray
    memory_bytes: float = field(default=0.0)


def draft_model_actions(scenario: Scenario, models: Sequence[DraftModel]) -> ActionTable:
    """Every draft length with every model, with a column `memory_bytes`; the scenario's own law is not looked at.

    Raises
    ------
    ParameterError
        Where there is no model, or one is for another number of devices.
    """
    if not models:
        raise ParameterError("there is no draft model to choose")
    tables = []
    for model in models:
        own = scenario.replace(acceptance=model.acceptance, draft_s_per_token=model.draft_s_per_token)
        table = ActionTable.of_lengths(own)
        tables.append(
            replace(
                table,
                labels=tuple(f"{label} by {model.name}" for label in table.labels),
                extra={"memory_bytes": np.where(table.drafted > 0.0, model.memory_bytes, 0.0)},
            )
        )
    return ActionTable.stacked(tables)


def ladder(
    profiles: Sequence[Profile],
    tasks: Sequence[str],
    *,
    speed: Sequence[float] | FloatArray | None = None,
    bytes_per_weight: float = 2.0,
) -> tuple[DraftModel, ...]:
    """The drafts of several profiles of one target as models to choose from.

    Parameters
    ----------
    profiles : sequence of Profile
    tasks : sequence of K str
        Of each device.
    speed : sequence of K float, optional
        How many times as fast as the measuring machine a device drafts; 1 by default.
    bytes_per_weight : float
        Of a model as it lies in memory [byte].

    Raises
    ------
    ParameterError
        Where a profile has no curve of a task or no draft time, or they are not of one target.
    """
    if len({profile.target.name for profile in profiles}) > 1:
        raise ParameterError("the profiles are of several targets; one server verifies for all")
    factor = np.ones(len(tasks)) if speed is None else np.asarray(speed, dtype=float)
    models = []
    for profile in profiles:
        curves = [[point.survival for point in task_of(profile, task).curve] for task in tasks]
        models.append(
            DraftModel(
                name=profile.draft.name,
                acceptance=Acceptance.of(curves=curves),
                draft_s_per_token=draft_seconds(profile) / factor,
                memory_bytes=bytes_per_weight * profile.draft.parameters,
            )
        )
    return tuple(models)
