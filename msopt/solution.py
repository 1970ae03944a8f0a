"""What a method returns: a control, its score by the one evaluator, and what is known of the optimum."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import MsoptError, ParameterError
from msopt.evaluation import Evaluation
from msopt.lengths.gap import BOUND_RTOL
from msopt.model.control import Control, correction_of
from msopt.model.goodput import finish_s
from msopt.model.problems import KINDS
from msopt.model.scenario import Problem, Scenario
from msopt.sensitivity import elasticities, elasticity_table
from msopt.shown.object_summary import Shown, Summary, counted, figures, gap_in_words
from msopt.shown.palette import CORRECTS, DRAFTS, SENDS, VERIFIES, WAITS
from msopt.shown.pictures import steps_of_rows, titled

if TYPE_CHECKING:
    import pandas as pd

    from msopt.shown.pictures import Axes

_WRONG_RTOL = 1e-6
_STANDARD_ERRORS = 6.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Solution(Shown):
    """The outcome of one method on one problem of one scenario; immutable.

    Attributes
    ----------
    scenario, problem, method, solver
        What was solved, and how; `solver` is None where no convex solver took part.
    goodput : float
        Of the whole control returned, scored by the evaluator [token/s].
    standard_error : float or None
        Of the goodput; None where it is exact [token/s].
    control, evaluation : Control, Evaluation or None
        None for methods without one control (point-to-point, centralised, server-only).
    bound : float or None
        No control of the problem has more goodput [token/s]; None where no bound is known.
    per_token_s : float or None
        theta [s]; problem `homogeneous` only.
    relaxed_goodput : float or None
        Optimum over real lengths [token/s].
    price_of_bandwidth : float or None
        Its derivative in the uplink band [token/s per Hz].
    utility_bound : float or None
        No control of the problem has a greater utility [unit of the utility]; of a variant only.
    limit_prices : mapping
        By how much the utility's optimum over real lengths grows for each unit by which a variant's limit gives way; by
        the name of the limit, where it is known.
    warnings : tuple of str
    """

    scenario: Scenario
    problem: Problem
    method: str
    goodput: float
    solver: str | None = None
    standard_error: float | None = None
    control: Control | None = None
    evaluation: Evaluation | None = None
    bound: float | None = None
    per_token_s: float | None = None
    relaxed_goodput: float | None = None
    price_of_bandwidth: float | None = None
    utility_bound: float | None = None
    limit_prices: Mapping[str, FloatArray] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        control: Control,
        evaluation: Evaluation,
        bound: float | None = None,
        *,
        proven: bool = False,
        method: str = "",
        **known: Any,
    ) -> Self:
        """The solution that a control with its score is.

        Parameters
        ----------
        scenario, control, evaluation
        bound : float, optional
            A computed bound for the control's problem [token/s], to be raised by its round-off (`valid_bound`).
        proven : bool
            Whether the bound has a margin for round-off already.
        method : str
        **known
            Further fields.

        Raises
        ------
        MsoptError
            As `valid_bound` does.
        """
        goodput, error = evaluation.goodput, evaluation.standard_error
        if bound is not None:
            bound = valid_bound(bound, goodput, error, 0.0 if proven else BOUND_RTOL)
        return cls(
            scenario=scenario,
            problem=control.problem,
            method=method,
            goodput=goodput,
            standard_error=error,
            control=control,
            evaluation=evaluation,
            bound=bound,
            **known,
        )

    @property
    def gap(self) -> float | None:
        """bound/goodput - 1; None without a bound, or where nothing is delivered.

        Of another utility the part by which all goodputs at once would have to grow to reach its bound.
        """
        if self.utility_bound is not None and self.evaluation is not None:
            return self.evaluation.utility.gap(self.evaluation.utility_value, self.utility_bound)
        return None if self.bound is None or self.goodput == 0.0 else self.bound / self.goodput - 1.0

    def summary(self) -> Summary:
        """What `repr`, `print` and a notebook show of it."""
        facts = {"goodput": figures(self.goodput, "token/s")}
        if self.standard_error:
            facts["goodput"] += f" (standard error {figures(self.standard_error)})"
        if self.gap is not None and np.isfinite(self.gap):
            facts["answer"] = gap_in_words(self.gap)
        if self.evaluation is not None:
            facts["round"] = figures(1e3 * float(self.evaluation.round.round_s), "ms")
        columns = {}
        if self.control is not None and self.evaluation is not None:
            columns = {
                "device": self.scenario.device_names,
                "length": [str(length) for length in self.control.draft_length],
                "band [MHz]": [figures(1e-6 * band) for band in self.control.bandwidth_hz],
                "goodput [token/s]": [figures(each) for each in self.evaluation.round.device_goodput],
            }
        return Summary(f"Solution of {self.scenario.name}, {self.problem} by {self.method}", facts, columns)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """One round: what each device does when, with its draft length and its part of the band.

        Drawn on `ax` or a new figure; loads matplotlib. MsoptError where the method has no one control.
        """
        if self.control is None or self.evaluation is None:
            raise MsoptError(f"method {self.method} has no one control whose round could be drawn")
        scenario, control, played = self.scenario, self.control, self.evaluation.round
        drafts_s = control.draft_length * scenario.draft_s_per_token
        ends_s = finish_s(scenario, self.problem, control.draft_length, control.bandwidth_hz)
        alike = np.ones(scenario.device_count)
        steps = {
            "drafts": (DRAFTS, drafts_s),
            "sends its draft": (SENDS, ends_s - drafts_s),
            "waits": (WAITS, float(played.draft_upload_s) - ends_s),
            "is verified": (VERIFIES, float(played.verify_s) * alike),
            "correction, expected": (CORRECTS, float(played.correction_s) * alike),
        }
        bands = zip(control.draft_length, 1e-6 * control.bandwidth_hz, strict=True)
        notes = [f"{counted(int(length), 'token')}, {band:.3g} MHz" for length, band in bands]
        axes = steps_of_rows(ax, scenario.device_names, steps, notes)
        return titled(axes, f"{scenario.name}, {self.problem}: {figures(self.goodput, 'token/s')}")

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of design section 9: SI units, full precision, None for what a problem does not have."""
        played = None if self.evaluation is None else self.evaluation.round
        with_correction = played is not None and KINDS[self.problem].corrects
        return {
            "scenario": self.scenario.name,
            "problem": self.problem,
            "method": self.method,
            "correction": correction_of(self.control.mode_rule) if self.control and with_correction else None,
            "solver": self.solver,
            "goodput_tokens_per_s": self.goodput,
            "standard_error_tokens_per_s": self.standard_error,
            "bound_tokens_per_s": self.bound,
            "gap": None if self.gap is None else finite(self.gap),
            "round_s": None if played is None else float(played.round_s),
            "draft_upload_s": None if played is None else float(played.draft_upload_s),
            **({"not_before_s": self.control.not_before_s} if self.control and self.control.not_before_s else {}),
            "verify_s": None if played is None else float(played.verify_s),
            "correction_s": float(played.correction_s) if played is not None and with_correction else None,
            "per_token_s": self.per_token_s,
            "relaxed_goodput_tokens_per_s": self.relaxed_goodput,
            "price_of_bandwidth_tokens_per_s_per_hz": self.price_of_bandwidth,
            "utility": None if self.evaluation is None else self.evaluation.utility.name,
            "utility_value": None if self.evaluation is None else finite(self.evaluation.utility_value),
            "utility_bound": self.utility_bound,
            "limits": self._limits(),
            "warnings": list(self.warnings),
            "devices": self._devices(),
        }

    def _limits(self) -> list[dict[str, Any]]:
        """A variant's limits: the least slack, where that is, and the price where it is known."""
        if self.evaluation is None:
            return []
        found = []
        for slack in self.evaluation.limits:
            prices = self.limit_prices.get(slack.constraint)
            found.append(
                {
                    "name": slack.constraint,
                    "slack": finite(float(np.min(slack.value))),
                    "unit": slack.unit,
                    "price": None if prices is None else np.asarray(prices, dtype=float).tolist(),
                }
            )
        return found

    def _devices(self) -> list[dict[str, Any]]:
        if self.control is None or self.evaluation is None:
            return []
        rejected, up = self.evaluation.rejection_probability, self.evaluation.uplink_probability
        played = self.evaluation.round
        return [
            {
                "name": name,
                "draft_length": int(self.control.draft_length[k]),
                **({} if self.control.served is None else {"served": bool(self.control.served[k])}),
                "bandwidth_hz": float(self.control.bandwidth_hz[k]),
                "rejection_probability": float(rejected[k]),
                "uplink_probability": None if up is None else float(up[k]),
                "downlink_probability": None if up is None else max(0.0, float(rejected[k] - up[k])),
                "expected_tokens": float(played.expected_tokens[k]),
                "goodput_tokens_per_s": float(played.device_goodput[k]),
            }
            for k, name in enumerate(self.scenario.device_names)
        ]

    def sensitivity(self, *, devices: bool = True) -> "pd.DataFrame":
        """The elasticity of the goodput to every number of the scenario, the greatest first; loads pandas.

        Parameters
        ----------
        devices : bool
            Whether to look at every device's own numbers too, and not at the common ones alone.

        Raises
        ------
        ParameterError
            Where the method has no one control, or a limit holds its shares.
        """
        if self.control is None or self.evaluation is None:
            raise ParameterError(f"method {self.method} has no one control whose lengths could be kept")
        return elasticity_table(elasticities(self.scenario, self.control, self.evaluation, devices=devices))

    def to_frame(self) -> "pd.DataFrame":
        """The devices as a pandas table, one row each, indexed by name; loads pandas."""
        import pandas as pd  # noqa: PLC0415  (a heavy library, loaded only here)

        return pd.DataFrame(self._devices()).set_index("name") if self.control is not None else pd.DataFrame()


def finite(value: float) -> float | None:
    """A number as JSON can hold it: None where it is infinite."""
    return value if np.isfinite(value) else None


def valid_bound(
    bound: float, goodput: float, standard_error: float | None = None, round_off: float = BOUND_RTOL
) -> float:
    """A computed bound, raised by its round-off, so that no goodput that was reached lies above it.

    MsoptError where a goodput lies above it by more than round-off and its own error: a wrong bound must not be hidden.
    """
    raised = bound * (1.0 + round_off)
    if goodput - _STANDARD_ERRORS * (standard_error or 0.0) > raised * (1.0 + _WRONG_RTOL):
        raise MsoptError(f"the bound {bound!r} token/s is below a goodput that was reached, {goodput!r} token/s")
    return max(raised, goodput)
