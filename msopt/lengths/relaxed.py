"""Problem `heterogeneous` with real lengths: the one convex program, solved by its own structure (design section 4).

Where every E_k is smooth one Newton iteration finds the optimum and its residuals prove it; at kinks, and for
laws that are piecewise linear, nested searches do.
"""

from dataclasses import dataclass, replace

import numpy as np

from msopt.arrays import BoolArray, FloatArray, total
from msopt.lengths.gap import BOUND_RTOL, optimality_gap
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.lengths.need import BandwidthNeed
from msopt.lengths.nested import NestedSearch
from msopt.lengths.newton import JointNewton
from msopt.lengths.response import JointPoint, Response
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario

_PROVEN = 1e-10  # a gap so small makes a point the optimum


@dataclass(frozen=True, eq=False)
class RelaxedOptimum:
    """The best real lengths.

    Attributes
    ----------
    draft_length, bandwidth_hz : arrays, shape (K,)
        l_k [token] and the bandwidth each needs [Hz].
    deadline_s : float
        D [s].
    goodput : float
        [token/s].
    price_of_bandwidth : float
        dG*/dB, the received powers held fixed [token/s per Hz].
    gap : float
        No real lengths have more than (1 + gap) times the goodput: by the stationarity residuals, or, where they say
        less, because nobody drafts more than the most nor in less time than the least. Infinite if not asked.
    """

    draft_length: FloatArray
    bandwidth_hz: FloatArray
    deadline_s: float
    goodput: float
    price_of_bandwidth: float
    gap: float = np.inf

    @property
    def bound(self) -> float:
        """No real lengths have more goodput [token/s]."""
        return self.goodput * (1.0 + max(self.gap, BOUND_RTOL))


def shortest_deadline(scenario: Scenario, draft_length: FloatArray) -> FloatArray:
    """The shortest time [s] in which lengths of shape (..., K) can be drafted and sent, [MS] Lemmas 2 and 3."""
    need = BandwidthNeed.of(scenario)
    return need.shortest_deadline(np.asarray(draft_length, dtype=float), scenario.uplink_bandwidth_hz)


def length_split(scenario: Scenario, draft_length: FloatArray) -> tuple[FloatArray, FloatArray]:
    """That time, shape (...), and the bandwidths [Hz] that attain it, shape (..., K)."""
    return BandwidthNeed.of(scenario).split(np.asarray(draft_length, dtype=float), scenario.uplink_bandwidth_hz)


def exact_goodput(scenario: Scenario, lengths: FloatArray) -> FloatArray:
    """Goodput [token/s] of lengths of shape (..., K) under the split that suits them best."""
    return round_at(scenario, lengths, shortest_deadline(scenario, lengths)).goodput


def solve_relaxed(scenario: Scenario, time_limit_s: float | None = None) -> RelaxedOptimum:
    """The optimum of problem `heterogeneous` over real lengths, for any law and both ways to share the uplink.

    After the time limit [s] the best lengths met; their gap says how far they are proven.
    """
    response = Response(scenario)
    deadlines_s = common_deadlines(response)
    if not response.kinked:
        found = solve_jointly(response, deadlines_s)
        if found.proven:
            return found.one(())
    shortest, longest, _ = deadlines_s
    point = NestedSearch(scenario, response, time_limit_s).run(float(shortest[0]), float(longest[0]))
    with np.errstate(all="ignore"):  # a price without bound proves nothing
        best = _weighed(response, point, shortest, longest).one(())
    return best if best.gap <= _PROVEN else _beside_common(scenario, response, best)


def _beside_common(scenario: Scenario, response: Response, found: RelaxedOptimum) -> RelaxedOptimum:
    """The better of a point and of the best common length, which loses no digits where sending takes next to no time.

    It is the optimum of one device, and its bound that device's.
    """
    common = solve_homogeneous(scenario)
    best = better(response, found, np.full(response.low.shape, common.relaxed_length))
    if scenario.device_count == 1:
        best = replace(best, gap=min(best.gap, max(0.0, common.bound / best.goodput - 1.0)))
    return best


def better(response: Response, found: RelaxedOptimum, length: FloatArray) -> RelaxedOptimum:
    """A relaxed optimum, or given lengths where they have more goodput than it: it was not the optimum then."""
    other = _report(response, length).one(())
    if not other.goodput > found.goodput * (1.0 + _PROVEN):
        return found
    return replace(other, gap=max(0.0, found.goodput * (1.0 + found.gap) / other.goodput - 1.0))


@dataclass(frozen=True, eq=False)
class RelaxedRows:
    """Relaxed optima of one or many scenarios: fields of `RelaxedOptimum`, shapes (..., K) and (..., 1)."""

    draft_length: FloatArray
    bandwidth_hz: FloatArray
    deadline_s: FloatArray
    goodput: FloatArray
    price_of_bandwidth: FloatArray
    gap: FloatArray

    @property
    def proven(self) -> BoolArray:
        """Which of them are the optimum as far as floats can tell, shape (...)."""
        return np.asarray(self.gap <= _PROVEN)[..., 0]

    def where(self, kept: BoolArray, other: "RelaxedRows") -> "RelaxedRows":
        """These rows where `kept`, shape (..., 1), holds, and those of another elsewhere."""
        chosen = {
            field: np.where(kept, getattr(self, field), getattr(other, field))
            for field in ("draft_length", "bandwidth_hz", "deadline_s", "goodput", "price_of_bandwidth")
        }
        return replace(self, **chosen)

    def one(self, row: tuple[int, ...]) -> RelaxedOptimum:
        """The optimum of one scenario."""
        return RelaxedOptimum(
            self.draft_length[row],
            self.bandwidth_hz[row],
            float(self.deadline_s[row][0]),
            float(self.goodput[row][0]),
            float(self.price_of_bandwidth[row][0]),
            float(self.gap[row][0]),
        )


def common_deadlines(response: Response) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The deadlines [s] of all minimum and of all maximum lengths, and theta, shapes (..., 1).

    Lengths that are all alike take theta each, so one split serves all three.
    """
    theta = response.shortest_deadline(np.ones(response.low.shape))
    return theta * response.low[..., :1], theta * response.high[..., :1], theta


def solve_jointly(
    response: Response, deadlines_s: tuple[FloatArray, FloatArray, FloatArray] | None = None
) -> RelaxedRows:
    """Newton's answer for one or many scenarios whose laws are smooth, and where it is proven."""
    shortest, longest, per_token = common_deadlines(response) if deadlines_s is None else deadlines_s
    with np.errstate(all="ignore"):  # rows that go astray do so quietly and are not proven
        newton = JointNewton(response, shortest, longest)
        point = newton.run(newton.start(per_token))
        return _weighed(response, point, shortest, longest)


def _weighed(response: Response, point: JointPoint, shortest: FloatArray, longest: FloatArray) -> RelaxedRows:
    """The better of a point and of drafting the least, and how far the point proves that it is from the best."""
    found = _report(response, point.length, point.deadline_s)
    price, limits_s = np.exp(point.log_price), (shortest, longest)
    gap = optimality_gap(response, point.length, point.deadline_s, price, found.goodput, limits_s)
    open_ = ~(gap <= _PROVEN)
    if np.any(open_):
        rests = open_ & ~(found.goodput >= response.goodput(response.low, shortest))
        if np.any(rests):
            found = found.where(~rests, _report(response, response.low, shortest))
            gap = optimality_gap(response, point.length, point.deadline_s, price, found.goodput, limits_s)
        # At rest, and at kinks, the answer itself with the price that balances its own deadline may prove more.
        busy = found.deadline_s > 0.0
        round_s = found.deadline_s + response.verify_s(found.draft_length)
        price = found.price_of_bandwidth * round_s / np.where(busy, found.deadline_s, 1.0)
        other = optimality_gap(
            response, found.draft_length, np.where(busy, found.deadline_s, 1.0), price, found.goodput, limits_s
        )
        gap = np.where(busy & open_, np.fmin(gap, other), gap)
    gap = np.where(point.ended & np.isfinite(gap), gap, np.inf)
    if np.all(gap <= _PROVEN):
        return replace(found, gap=gap)
    most = total(response.acceptance.expected_tokens(response.high)) / (shortest + response.verify_s(response.low))
    return replace(found, gap=np.fmin(gap, np.maximum(most / found.goodput - 1.0, 0.0)))


def _report(response: Response, length: FloatArray, near_s: FloatArray | float = 0.0) -> RelaxedRows:
    """The evaluation of real lengths at the shortest deadline that they allow."""
    deadline, share = response.split(length, near_s)
    deadline = np.reshape(deadline, response.band.shape)
    goodput = response.goodput(length, deadline)
    round_s = deadline + response.verify_s(length)
    busy = deadline > 0.0
    pace = length / np.where(busy, deadline, 1.0)
    _, slope, _ = response.bandwidth(pace)
    pull = total(slope * pace)
    price = np.where(busy, goodput / round_s * deadline / np.where(busy, pull, 1.0), 0.0)
    return RelaxedRows(length, share, deadline, goodput, price, np.full_like(deadline, np.inf))
