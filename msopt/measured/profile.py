"""A profile: what was measured on one pair of models, with where every number comes from (design section 8).

One profile speaks of one draft and one target. A ladder of drafts is a profile for each: acceptance, draft
time and payload belong to the pair, a scenario names a profile for each device, and one rung can be measured
again without touching the others. Verification belongs to the target; a rung may leave it out.

Reading a profile needs no torch. `msopt.files.profile_json` reads and writes the file.
"""

from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from msopt.arrays import FloatArray
from msopt.errors import MsoptError
from msopt.measured.provenance import Count, Day, Machine, Model, Origin, Part, Sampling, Text, Vocabulary
from msopt.measured.step_times import BatchTiming, Timing, Verification
from msopt.measured.task_acceptance import PayloadRow, TaskAcceptance
from msopt.numerics.intervals import LEVEL
from msopt.shown.object_summary import Shown, Summary, figures, spread_of
from msopt.shown.pictures import curves_with_intervals, titled

if TYPE_CHECKING:
    import pandas as pd

    from msopt.shown.pictures import Axes

VERSION: Literal[1] = 1
"""The version of the schema below; a change that breaks old files raises it."""

_POOR_FIT = 0.2


class Profile(Shown, Part):
    """What was measured on one pair.

    Attributes
    ----------
    schema_version : int
        `VERSION`.
    name : str
        What tables and comments call the profile.
    compute_only : bool
        Random weights: times only, no acceptance.
    note : str
        Whatever a reader must know besides.
    draft, target : Model
    vocabulary : Vocabulary
    sampling : Sampling or None
        None where nothing was sampled (`compute_only`).
    machine : Machine
    versions : dict
        Library to version.
    seed : int
    date : str
        Day of the measurement, YYYY-MM-DD.
    acceptance_from : Origin or None
        Where `sampling`, `vocabulary`, `seed`, `tasks` and `payload` were measured, where that was another profile:
        `machine`, `versions` and `date` are those of the times then.
    interval_level : float
        Level of every interval in the file [1].
    tasks : dict
        Task to acceptance; empty where `compute_only`.
    draft_time : Timing or None
        One drafted token of one device, on `machine` [s].
    server_draft : tuple of BatchTiming
        One drafting step for a whole batch at the server.
    verification : Verification or None
    prompt_processing : tuple of BatchTiming
        The target over prompts, which no round contains.
    payload : tuple of PayloadRow
    """

    schema_version: Literal[1] = VERSION
    name: Text
    compute_only: bool = False
    note: str = ""
    draft: Model
    target: Model
    vocabulary: Vocabulary
    sampling: Sampling | None
    machine: Machine
    versions: dict[str, str]
    seed: Count
    date: Day
    acceptance_from: Origin | None = None
    interval_level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    tasks: dict[Text, TaskAcceptance]
    draft_time: Timing | None = None
    server_draft: tuple[BatchTiming, ...] = ()
    verification: Verification | None = None
    prompt_processing: tuple[BatchTiming, ...] = ()
    payload: tuple[PayloadRow, ...] = ()

    @property
    def label(self) -> str:
        """Which model drafts for which."""
        return f"{self.draft.name} drafts for {self.target.name}"

    def summary(self) -> Summary:
        """What `repr`, `print` and a notebook show of it."""
        facts = {"measured": f"{self.date}, {self.machine.cpu}"}
        rates = [task.by_counts.value for task in self.tasks.values() if task.by_counts.value is not None]
        if rates:
            facts["acceptance"] = spread_of(rates, "")
        if self.draft_time is not None:
            facts["drafting"] = figures(1e3 * self.draft_time.median_s, "ms a token")
        columns = {
            "task": list(self.tasks),
            "acceptance": [
                "–" if task.by_counts.value is None else figures(task.by_counts.value) for task in self.tasks.values()
            ],
            "S(1)": [figures(task.curve[0].survival) for task in self.tasks.values()],
        }
        return Summary(f"Profile {self.name}: {self.label}", facts, columns if self.tasks else {})

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The acceptance curve of each task with its interval, on `ax` or a new figure; loads matplotlib.

        MsoptError where it holds no task.
        """
        if not self.tasks:
            raise MsoptError(f'profile "{self.name}" holds no acceptance that could be drawn')
        curves = {}
        for name, task in self.tasks.items():
            ends = ([getattr(point, part) for point in task.curve] for part in ("survival", "low", "high"))
            value, low, high = (np.array(each) for each in ends)
            curves[name] = (value, low, high)
        axes = curves_with_intervals(ax, curves, "position in the draft, l", "S(l), all of the first l accepted [1]")
        return titled(axes, self.name)

    def to_frame(self) -> "pd.DataFrame":
        """The acceptance curves: a row for each task and position l, with S(l) [1] and its interval; loads pandas."""
        import pandas as pd  # noqa: PLC0415  (a heavy library, loaded only here)

        rows = [
            {"task": name, "position": place, "survival": point.survival, "low": point.low, "high": point.high}
            for name, task in self.tasks.items()
            for place, point in enumerate(task.curve, start=1)
        ]
        return pd.DataFrame(rows, columns=["task", "position", "survival", "low", "high"])

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a user of the numbers should know."""
        if self.verification is None or self.verification.fit.max_relative_residual <= _POOR_FIT:
            return ()
        rows, fit = self.verification.rows, self.verification.fit
        off = [abs(s) / row.time.median_s for s, row in zip(fit.residuals_s, rows, strict=True)]
        worst = rows[int(np.argmax(off))]
        most = f"{fit.max_relative_residual:.0%} off a measured median"
        where = f"batch size {worst.batch}, length {worst.draft_length}"
        return (f'profile "{self.name}": its verification fit is up to {most} ({where})',)

    def server_draft_s(self, batch: int) -> float | None:
        """One drafting step for a batch at the server [s]: linear between the measured batches.

        Below the smallest it is that one's; above the largest it goes on with the last slope, never falling.
        None where nothing was measured.
        """
        if not self.server_draft:
            return None
        rows = sorted(self.server_draft, key=lambda row: row.batch)
        batches: FloatArray = np.array([row.batch for row in rows], dtype=float)
        seconds: FloatArray = np.array([row.time.median_s for row in rows])
        inside = float(np.interp(batch, batches, seconds))
        if batch <= batches[-1] or len(rows) == 1:
            return inside
        slope = (seconds[-1] - seconds[-2]) / (batches[-1] - batches[-2])
        return inside + max(0.0, float(slope)) * float(batch - batches[-1])

    @model_validator(mode="after")
    def _check(self) -> Self:
        random = self.draft.random_weights or self.target.random_weights
        if random and not self.compute_only:
            raise ValueError("compute_only = false: random weights say nothing about acceptance")
        if self.compute_only and (self.tasks or self.payload):
            raise ValueError("compute_only = true: such a profile carries neither tasks nor payload")
        if self.tasks and self.sampling is None:
            raise ValueError("sampling is null: acceptance needs the temperature and the draft length")
        batches = [row.batch for row in self.server_draft]
        if len(set(batches)) < len(batches):
            raise ValueError("server_draft holds a batch twice")
        return self
