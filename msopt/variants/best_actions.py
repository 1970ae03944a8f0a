"""The best action for each device, with a proof: any table, utility and limits (design section 7)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import InfeasibleError, ParameterError
from msopt.lengths.region_search import SearchEffort
from msopt.model.control_limit import ControlLimit
from msopt.model.goodput import Round
from msopt.model.limits import Slack
from msopt.model.objective import GOODPUT, Utility
from msopt.model.scenario import Scenario
from msopt.variants.action_problem import ActionProblem
from msopt.variants.action_table import ActionTable
from msopt.variants.decision import DecisionNumbers, limit_slack
from msopt.variants.limits import Admitted, GoodputFloor
from msopt.variants.table_rules import TableRules
from msopt.variants.table_search import TableProof, TableSearch
from msopt.variants.utilities import Admission, MaxMin
from msopt.variants.variant import Variant

USUAL_TABLE_EFFORT = SearchEffort(regions=2000)


@dataclass(frozen=True, kw_only=True, eq=False)
class ActionsSolution:
    """One action for each device.

    Attributes
    ----------
    scenario, table, variant
        What was solved.
    choice : array of int, shape (K,)
        Rows of the table.
    bandwidth_hz : array, shape (K,)
    deadline_s : float
        When all bits are there [s].
    utility_value, utility_bound : float
        What the choice is worth, and what no choice exceeds, in `variant.utility.unit`.
    nodes : int
        How much the search looked at.
    """

    scenario: Scenario
    table: ActionTable
    variant: Variant
    choice: IntArray
    bandwidth_hz: FloatArray
    deadline_s: float
    utility_value: float
    utility_bound: float
    nodes: int

    @cached_property
    def round(self) -> Round:
        """What the round yields and how long it takes."""
        at = self.choice, np.arange(self.choice.size)
        verified = self.table.verify_s(self.scenario)[at]
        return Round(
            self.table.tokens[at],
            np.asarray(self.deadline_s),
            np.asarray(self.scenario.verify_base_s + np.sum(verified)),
            np.asarray(0.0),
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """What the chosen actions are called."""
        return tuple(self.table.labels[a] for a in self.choice)

    @property
    def goodput(self) -> float:
        """Tokens of all devices per second."""
        return float(self.round.goodput)

    @property
    def gap(self) -> float:
        """By what part all goodputs at once would have to grow to reach the bound."""
        return self.variant.utility.gap(self.utility_value, self.utility_bound)

    @property
    def slacks(self) -> tuple[Slack, ...]:
        """The room that each limit of the variant leaves."""
        at = self.choice, np.arange(self.choice.size)
        sends = self.table.bits[at] > 0.0
        airtime = np.where(sends, self.deadline_s - self.table.ready_s[at], 0.0)
        rate = self.scenario.uplink.rate(self.bandwidth_hz)
        airtime = np.where(sends & (rate > 0.0), self.table.bits[at] / np.where(rate > 0.0, rate, 1.0), airtime)
        numbers = DecisionNumbers(
            scenario=self.scenario,
            draft_length=self.table.drafted[at],
            draft_s=self.table.compute_s[at],
            airtime_s=airtime,
            bandwidth_hz=self.bandwidth_hz,
            deadline_s=self.deadline_s,
            round_s=float(self.round.round_s),
            device_goodput=self.round.device_goodput,
            served=self.table.verified[at] > 0.0,
            extra={name: column[at] for name, column in self.table.extra.items()},
        )
        return tuple(limit_slack(limit, numbers) for limit in self.variant.limits)


def solve_actions(
    scenario: Scenario,
    table: ActionTable,
    utility: Utility | None = None,
    limits: Sequence[ControlLimit] = (),
    *,
    effort: SearchEffort | None = None,
    starts: IntArray | None = None,
) -> ActionsSolution:
    """The best row of a table for each device, searched until proven or until the effort is spent.

    Parameters
    ----------
    scenario : Scenario
        Server, uplink and the keys of its own variant; its devices' laws and draft times are in the table.
    table : ActionTable
        For the scenario's devices.
    utility : Utility, optional
        The scenario's by default.
    limits : sequence of ControlLimit
        Beside the scenario's.
    effort : SearchEffort, optional
        2000 regions by default.
    starts : array of int, shape (n, K), optional
        Choices to begin with.

    Raises
    ------
    ParameterError
        Where the table is for other devices, or a limit asks for what it does not have.
    InfeasibleError
        Where no choice keeps all limits.
    """
    if table.device_names != scenario.device_names:
        raise ParameterError("the table of actions is for other devices than the scenario's")
    without = np.flatnonzero(~np.any(table.allowed, axis=0))
    if without.size:
        raise ParameterError(f"the table of actions has none for {scenario.device_label(int(without[0]))}")
    return best_of_variant(scenario, table, Variant.of(scenario, utility, limits), effort, starts)


def best_of_variant(
    scenario: Scenario,
    table: ActionTable,
    variant: Variant,
    effort: SearchEffort | None = None,
    starts: IntArray | None = None,
    least_deadline_s: float = 0.0,
) -> ActionsSolution:
    """`solve_actions` with a variant that is made already; no deadline is sooner than one that is given."""
    effort = USUAL_TABLE_EFFORT if effort is None else effort
    found = _searched(scenario, table, variant, effort, starts, least_deadline_s)
    if not isinstance(variant.utility, Admission):
        return found
    # Of the choices that admit as many the one with the most tokens.
    admitted = Admitted(variant.utility.guaranteed_tokens_per_s, found.utility_value)
    second = replace(variant, utility=GOODPUT, limits=(*variant.limits, admitted))
    try:
        most = _searched(scenario, table, second, effort, found.choice[None, :], least_deadline_s)
    except InfeasibleError:  # without a row for doing nothing
        return found
    value = float(
        variant.utility.value(most.round.expected_tokens, most.round.round_s)
    )  # a search cut short finds more
    return replace(most, variant=variant, utility_value=value, utility_bound=found.utility_bound)


def _searched(
    scenario: Scenario,
    table: ActionTable,
    variant: Variant,
    effort: SearchEffort,
    starts: IntArray | None,
    least_deadline_s: float,
) -> ActionsSolution:
    """The best choice for the utility alone."""
    best: tuple[ActionProblem, TableProof] | None = None
    bounds, refused = [], ""
    for batch in _batches(scenario, table):
        problem = ActionProblem(
            batch[0], batch[1], variant.utility, _rules(batch[0], batch[1], variant.limits), least_deadline_s
        )
        try:
            proof = TableSearch(problem, effort).run(starts, _floors_first(problem, variant, effort))
        except InfeasibleError as error:
            refused = str(error)
            continue
        bounds.append(proof.bound)
        if best is None or proof.value > best[1].value:
            best = problem, proof
    if best is None:
        raise InfeasibleError(refused)
    problem, proof = best
    return ActionsSolution(
        scenario=problem.scenario,
        table=problem.table,
        variant=variant,
        choice=proof.choice,
        bandwidth_hz=problem.shares_hz(proof.choice, proof.deadline_s),
        deadline_s=proof.deadline_s,
        utility_value=proof.value,
        utility_bound=max(bounds),
        nodes=proof.nodes,
    )


def _floors_first(problem: ActionProblem, variant: Variant, effort: SearchEffort) -> Callable[[], IntArray] | None:
    """What finds a choice that keeps all floors, if there are any: by the greatest part of them that all can have."""
    asked = [limit.tokens_per_s for limit in variant.limits if isinstance(limit, GoodputFloor)]
    if not asked:
        return None
    scenario, table = problem.scenario, problem.table
    floor = np.maximum.reduce([np.broadcast_to(one, (table.shape[1],)) for one in asked])
    others = [limit for limit in variant.limits if not isinstance(limit, GoodputFloor)]

    def found() -> IntArray:
        part = MaxMin(np.where(floor > 0.0, 1.0 / np.where(floor > 0.0, floor, 1.0), 0.0))
        eased = ActionProblem(scenario, table, part, _rules(scenario, table, others), problem.least_deadline_s)
        proof = TableSearch(eased, effort).run()
        if proof.bound < 1.0:
            raise InfeasibleError(f"no choice of actions keeps the goodput floors: {proof.bound:.4g} of them at most")
        return proof.choice[None, :]

    return found


def _rules(scenario: Scenario, table: ActionTable, limits: Sequence[ControlLimit]) -> TableRules:
    rules = TableRules(scenario, table)
    for limit in limits:
        limit.on_table(rules)
    return rules


def _batches(scenario: Scenario, table: ActionTable) -> Iterator[tuple[Scenario, ActionTable]]:
    """The table itself; with padded batches, for every greatest number of verified tokens what verifying then takes."""
    if not scenario.padded_batches or scenario.verify_per_token_s == 0.0:
        yield scenario, table
        return
    for most in np.unique(table.verified[table.allowed & (table.verified > 0.0)]):
        allowed = table.allowed & (table.verified <= most)
        if np.all(np.any(allowed, axis=0)):
            padded = np.where(table.verified > 0.0, most, 0.0)
            yield scenario, replace(table, allowed=allowed, verified=padded)
