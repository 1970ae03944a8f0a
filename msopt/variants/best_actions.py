"""The best action for each device, with a proof: any table, utility and limits (design section 7)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import InfeasibleError, ParameterError
from msopt.lengths.region_search import LARGEST_CHOICE
from msopt.model.control_limit import ControlLimit
from msopt.model.goodput import Round
from msopt.model.objective import GOODPUT, Utility
from msopt.model.scenario import Scenario
from msopt.model.slacks import Slack
from msopt.numerics.best_first import SearchEffort
from msopt.variants.action_problem import ActionProblem
from msopt.variants.action_table import ActionTable
from msopt.variants.conflict import why_none
from msopt.variants.decision import DecisionNumbers, limit_slack
from msopt.variants.goodput_limits import Admitted
from msopt.variants.table_rules import TableRules
from msopt.variants.table_search import TableProof, TableSearch
from msopt.variants.utilities import Admission, MaxMin
from msopt.variants.variant import Variant

_USUAL_REGIONS = 2000
_USUAL_NUMBERS = 50_000_000  # actions of all devices in all regions: of large tables fewer regions are examined
_LEAST_REGIONS = 30
_SHORT = 60  # regions: a search for any choice at all, many of which say why there is none


def usual_effort(table: ActionTable) -> SearchEffort:
    """The regions that a search examines at most unless told otherwise: fewer, the larger the table."""
    return SearchEffort(regions=int(np.clip(_USUAL_NUMBERS // table.tokens.size, _LEAST_REGIONS, _USUAL_REGIONS)))


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
        return tuple(limit_slack(limit, numbers) for limit in self.variant.limits if limit.sided)


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
        By default 2000 regions, fewer where the table is large.
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
    variant = Variant.of(scenario, utility, limits)
    variant.check_table()
    return best_of_variant(scenario, [table], variant, effort, starts)


def best_of_variant(
    scenario: Scenario,
    tables: Sequence[ActionTable],
    variant: Variant,
    effort: SearchEffort | None = None,
    starts: IntArray | None = None,
) -> ActionsSolution:
    """The best of `solve_actions` over tables that differ in what is allowed, with a variant that is made already."""
    effort = usual_effort(tables[0]) if effort is None else effort
    rows, count = tables[0].shape
    if rows * count > LARGEST_CHOICE:
        raise ParameterError(
            f"{rows} actions for each of {count} devices are more than {LARGEST_CHOICE} numbers; "
            "allow fewer actions or fewer devices"
        )
    found = _searched(scenario, tables, variant, effort, starts)
    if found is None:
        raise InfeasibleError(why_none(variant, lambda limits: _possible(scenario, tables, limits)))
    if not isinstance(variant.utility, Admission):
        return found
    # Of the choices that admit as many, and nobody else to a round, the one with the most tokens.
    admitted = Admitted(variant.utility.guaranteed_tokens_per_s, found.utility_value)
    second = replace(variant, utility=GOODPUT, limits=(*variant.limits, admitted))
    most = _searched(scenario, tables, second, effort, np.stack([found.choice, _without_others(found, admitted)]))
    if most is None:  # without a row for doing nothing
        return found
    value = float(variant.utility.value(most.round.expected_tokens, most.round.round_s))  # more, after a short search
    return replace(most, variant=variant, utility_value=value, utility_bound=found.utility_bound)


def _without_others(found: ActionsSolution, admitted: Admitted) -> IntArray:
    """The choice with those that do not get the guarantee left out of the round, where a row leaves them out."""
    table = found.table
    nothing = table.allowed & (table.verified == 0.0) & (table.bits == 0.0)
    short = ~admitted.reached(found.round.device_goodput) & np.any(nothing, axis=0)
    return np.where(short, np.argmax(nothing, axis=0), found.choice)


def _searched(
    scenario: Scenario, tables: Sequence[ActionTable], variant: Variant, effort: SearchEffort, starts: IntArray | None
) -> ActionsSolution | None:
    """The best choice for the utility alone; None where there is none.

    InfeasibleError where none was found before the effort was spent.
    """
    best: tuple[ActionProblem, TableProof] | None = None
    bounds, nodes, unknown = [], 0, ""
    for problem in _problems(scenario, tables, variant.utility, variant.limits):
        try:
            proof = _proof(problem, effort, starts, -np.inf if best is None else best[1].value)
        except InfeasibleError as error:
            unknown = str(error)
            continue
        if proof is None:
            continue
        bounds.append(proof.bound)
        nodes += proof.nodes
        if best is None or proof.value > best[1].value:
            best = problem, proof
    if best is None:
        if unknown:
            raise InfeasibleError(unknown)
        return None
    problem, proof = best
    return ActionsSolution(
        scenario=problem.scenario,
        table=problem.table,
        variant=variant,
        choice=proof.choice,
        bandwidth_hz=problem.shares_hz(proof.choice, proof.deadline_s),
        deadline_s=proof.deadline_s,
        utility_value=proof.value,
        utility_bound=max(bounds) if not unknown else float("inf"),
        nodes=nodes,
    )


def _proof(problem: ActionProblem, effort: SearchEffort, starts: IntArray | None, known: float) -> TableProof | None:
    """One search; where it met no choice, another from one that the fairest of utilities meets."""
    try:
        return TableSearch(problem, effort, known).run(starts)
    except InfeasibleError:
        fair = TableSearch(ActionProblem(problem.scenario, problem.table, MaxMin(), problem.rules), effort)
        if not fair.possible() or fair.choice is None:
            raise
        return TableSearch(problem, effort, known).run(fair.choice[None, :])


def _possible(scenario: Scenario, tables: Sequence[ActionTable], limits: Sequence[ControlLimit]) -> bool:
    """Whether some choice keeps some limits, as far as a short search goes."""
    effort = SearchEffort(regions=_SHORT)
    if len(tables) > 1:  # what none of them allows at least together allows, none allows alone
        every = replace(tables[0], allowed=np.any([table.allowed for table in tables], axis=0))
        together = [TableSearch(one, effort) for one in _problems(scenario, [every], GOODPUT, limits)]
        if not any(search.possible() or search.open for search in together):
            return False
    return any(TableSearch(one, effort).possible() for one in _problems(scenario, tables, GOODPUT, limits))


def _problems(
    scenario: Scenario, tables: Sequence[ActionTable], utility: Utility, limits: Sequence[ControlLimit]
) -> Iterator[ActionProblem]:
    for table in tables:
        for batch in _batches(scenario, table):
            yield ActionProblem(scenario, batch, utility, _rules(scenario, batch, limits))


def _rules(scenario: Scenario, table: ActionTable, limits: Sequence[ControlLimit]) -> TableRules:
    rules = TableRules(scenario, table)
    for limit in limits:
        rules.whose = f"limit {limit.name}"
        limit.on_table(rules)
    return rules


def _batches(scenario: Scenario, table: ActionTable) -> Iterator[ActionTable]:
    """The table itself; with padded batches, for every greatest number of verified tokens what verifying then takes."""
    if not scenario.padded_batches or scenario.verify_per_token_s == 0.0:
        yield table
        return
    for most in np.unique(table.verified[table.allowed & (table.verified > 0.0)]):
        allowed = table.allowed & (table.verified <= most)
        if np.all(np.any(allowed, axis=0)):
            padded = np.where(table.verified > 0.0, most, 0.0)
            yield replace(table, allowed=allowed, verified=padded)
