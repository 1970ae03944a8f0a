"""Which rejected devices to correct by uplink when bands and power may be split at will, with proof (ours).

No sort order gives the best uplink sets any more: two bands of their own are two machines among which loads are
parted (two devices may have to be exchanged for one), and in one band a device counts by both its channels
(`tests/msopt/modes/test_free_modes.py` keeps counterexamples).

*Separate bands*: T(R) = min over U of max(uplink time of U, downlink time of the rest). Both are tabulated for all
sets, and all pairs are tried, but for sets U that alone take as long as everyone.

*One band*: at x = 1/T and a price mu of the band over the power, the least band that a set U needs is at least

    sum_U g_k(x) + sum_rest c_k(x, mu) - 1/mu,     c_k = least f + p/mu,

so that sum_k min(g_k, c_k) - 1/mu >= 1 proves that no set is faster than T. Where it does not, the device whose two
costs are nearest is put up and put down, and both are asked again. A device that is no worse by uplink and no better by
downlink than another is never on the downlink while the other is on the uplink, because they could change places.
"""

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.model.control import BandRule
from msopt.modes.free_bands import FastestExchange, FreeBands

_PROVEN = 1e-11  # a band so little short of 1 is round-off
_BETTER = 1.0 - 1e-13
_HALVINGS = 12  # of the interval of ln mu around the price of the best set known
_WIDTH = 6.0
_SETS_AT_ONCE = 2**14


def best_time(bands: FreeBands, rule: BandRule) -> tuple[float, BoolArray]:
    """T [s] of the set of all devices of `bands`, and who is on the uplink."""
    count = bands.unit_s.size
    if rule == "separate-bands":
        up_s, down_s = _two_tables(bands)
        slower = np.maximum(up_s, down_s[::-1])
        best = int(np.argmin(slower))
        return float(slower[best]), _members(np.array([best]), count)[0]
    everyone = np.ones((1, count), dtype=bool)
    alone = np.eye(count, dtype=bool)
    start = (bands.uplink_s(alone) < bands.downlink(alone).seconds)[None, :]
    up, found = best_in_one_band(bands, everyone, start, *_exchange_of(bands, everyone, start))
    return float(found.seconds[0]), up[0]


def table_of_best_times(bands: FreeBands, rule: BandRule) -> tuple[FloatArray, IntArray]:
    """T [s] of all 2^n sets of the devices, and the best uplink set of each, as an index; bit i is device i."""
    return _separate_table(bands) if rule == "separate-bands" else _shared_table(bands)


def _members(index: IntArray, count: int) -> BoolArray:
    """Sets by index as masks of shape (n, count)."""
    return ((index[:, None] >> np.arange(count)) & 1).astype(bool)


# Two bands.


def _two_tables(bands: FreeBands) -> tuple[FloatArray, FloatArray]:
    every = _members(np.arange(2**bands.unit_s.size), bands.unit_s.size)
    return bands.uplink_s(every), bands.downlink(every).seconds


def _separate_table(bands: FreeBands) -> tuple[FloatArray, IntArray]:
    up_s, down_s = _two_tables(bands)
    full = up_s.size - 1
    seconds, chosen = down_s.copy(), np.zeros(up_s.size, dtype=np.int64)
    longest = float(np.min(np.maximum(up_s, down_s[::-1])))
    for up in np.flatnonzero(up_s <= longest).tolist()[1:]:
        rest = _subsets(full & ~up)
        slower = np.maximum(up_s[up], down_s[rest])
        whole = rest | up
        better = slower < seconds[whole]
        seconds[whole[better]] = slower[better]
        chosen[whole[better]] = up
    return seconds, chosen


def _subsets(members: int) -> IntArray:
    """The indices of all subsets of a set."""
    found = np.zeros(1, dtype=np.int64)
    while members:
        bit = members & -members
        found = np.concatenate([found, found | bit])
        members ^= bit
    return found


# One band.


def _shared_table(bands: FreeBands) -> tuple[FloatArray, IntArray]:
    """Set after set: with one device more the best uplink set of those before is where the search begins."""
    count = bands.unit_s.size
    seconds, chosen, log_price = np.zeros(2**count), np.zeros(2**count, dtype=np.int64), np.full(2**count, np.nan)
    for place in range(count):
        part = bands.take(np.arange(place + 1))
        for first in range(0, 2**place, _SETS_AT_ONCE):
            before = np.arange(first, min(first + _SETS_AT_ONCE, 2**place))
            now = before + 2**place
            members, start = _members(now, place + 1), _members(chosen[before], place + 1)
            start[:, place] = _rather_up(part, seconds[before], log_price[before])
            up, found = best_in_one_band(part, members, start, *_exchange_of(part, members, start))
            seconds[now], log_price[now] = found.seconds, found.log_price
            chosen[now] = up @ (1 << np.arange(place + 1))
    return seconds, chosen


def _rather_up(bands: FreeBands, seconds: FloatArray, log_price: FloatArray) -> BoolArray:
    """Whether the last device costs less by uplink at the time and price of the sets without it."""
    last = bands.take(np.array([-1]))
    alone = np.ones((1, 1), dtype=bool)
    up_s, down = last.uplink_s(alone), last.downlink(alone)
    known = ~np.isnan(log_price)
    per_s = 1.0 / np.where(known, seconds, 1.0)
    band, power = last.downlink_at(per_s, np.where(known, log_price, 0.0))
    cost = band + power * np.exp(-np.where(known, log_price, 0.0))[:, None]
    cheaper = last.uplink_need(per_s) < cost
    return np.where(known, cheaper[:, 0], up_s < down.seconds)


def _exchange_of(bands: FreeBands, members: BoolArray, up: BoolArray) -> tuple[FastestExchange, FloatArray]:
    """What some uplink sets take, and a price to begin with where nobody is on the downlink, too."""
    found = bands.shared(up, members & ~up)
    price = found.log_price.copy()
    alone = np.isnan(price)
    price[alone] = bands.downlink(members[alone]).log_price
    return found, price


def best_in_one_band(
    bands: FreeBands, members: BoolArray, start: BoolArray, found: FastestExchange, log_price: FloatArray
) -> tuple[BoolArray, FastestExchange]:
    """The best uplink set of each of n sets, by branch and bound on all of them at once.

    Parameters
    ----------
    bands : FreeBands
    members, start : arrays of bool, shape (n, K)
        Who is rejected, at least one of each set; an uplink set of each, with what it takes in `found`.
    log_price : array, shape (n,)
        Around which prices are tried for the bound.

    Returns
    -------
    up : array of bool, shape (n, K)
    found : FastestExchange
    """
    up, seconds, price = start.copy(), found.seconds.copy(), found.log_price.copy()
    goes_up_first = _goes_up_first(bands)
    row, near = np.arange(len(up)), log_price
    put_up, put_down = np.zeros((2, *up.shape), dtype=bool)
    while row.size:
        per_s = 1.0 / seconds[row]
        free = members[row] & ~put_up & ~put_down
        need = bands.uplink_need(per_s)
        band, near, cost = _least_band(bands, per_s, need, (put_up, put_down, free), near)
        left = band < 1.0 - _PROVEN
        row, near, need, cost = row[left], near[left], need[left], cost[left]
        put_up, put_down, free = put_up[left], put_down[left], free[left]
        tried = put_up | (free & (need <= cost))
        new = np.any(tried != up[row], axis=1)
        _keep(bands, members, row[new], tried[new], (up, seconds, price))
        left = np.any(free, axis=1)
        row, near, need, cost = row[left], near[left], need[left], cost[left]
        put_up, put_down, free = put_up[left], put_down[left], free[left]
        gap = np.where(free, np.minimum(np.abs(np.log(need / cost)), 1e300), np.inf)
        device = np.argmin(gap, axis=1)
        both = np.arange(row.size), device
        more_up, more_down = free & goes_up_first[:, device].T, free & goes_up_first[device]
        more_up[both] = more_down[both] = True
        put_up, put_down = np.vstack([put_up | more_up, put_up]), np.vstack([put_down, put_down | more_down])
        row, near = np.tile(row, 2), np.tile(near, 2)
    return up, FastestExchange(seconds, price)


def _keep(
    bands: FreeBands,
    members: BoolArray,
    row: IntArray,
    tried: BoolArray,
    best: tuple[BoolArray, FloatArray, FloatArray],
) -> None:
    """Put uplink sets that are faster than the best of their rows in place of it."""
    up, seconds, price = best
    found = bands.shared(tried, members[row] & ~tried)
    order = np.lexsort((found.seconds, row))
    first = order[np.diff(row[order], prepend=-1) > 0]
    first = first[found.seconds[first] < seconds[row[first]] * _BETTER]
    up[row[first]], seconds[row[first]], price[row[first]] = tried[first], found.seconds[first], found.log_price[first]


def _goes_up_first(bands: FreeBands) -> BoolArray:
    """Entry (i, j): i is no worse by uplink and no better by downlink than j; of two that are alike the first."""
    rate = bands.uplink.rate(np.full(bands.unit_s.size, bands.uplink_hz))

    def at_least(values: FloatArray) -> BoolArray:
        return np.asarray(values[:, None] >= values)

    first = at_least(rate) & at_least(-bands.uplink_bits) & at_least(bands.unit_s) & at_least(-bands.downlink_snr)
    return np.asarray(first & (~first.T | np.tri(len(first), k=-1, dtype=bool).T))


def _least_band(
    bands: FreeBands,
    per_s: FloatArray,
    need: FloatArray,
    choices: tuple[BoolArray, BoolArray, BoolArray],
    near: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The least band of rows (put up, put down, free) by the best price found, that price, and the costs at it.

    The bound is concave in 1/mu and rises with it while those who choose the downlink use more power than there is.
    The first price that proves what is to be proven will do.
    """
    put_up, put_down, free = choices
    members = put_up | put_down | free
    best, at, costs = np.full(near.size, -np.inf), near.copy(), np.zeros_like(need)
    low, high, price = near - _WIDTH, near + _WIDTH, near.copy()
    rows = np.arange(near.size)
    for _ in range(_HALVINGS):
        band, power = bands.downlink_at(per_s[rows], price[rows])
        reverse = np.exp(-price[rows])
        cost = band + power * reverse[:, None]
        down = put_down[rows] | (free[rows] & (cost < need[rows]))
        total = np.sum(np.where(down, cost, need[rows]), axis=1, where=members[rows]) - reverse
        more = total > best[rows]
        better = rows[more]
        best[better], at[better], costs[better] = total[more], price[better], cost[more]
        scarce = np.sum(power, axis=1, where=down) > 1.0
        high[rows], low[rows] = np.where(scarce, price[rows], high[rows]), np.where(scarce, low[rows], price[rows])
        price[rows] = 0.5 * (low[rows] + high[rows])
        rows = rows[total < 1.0 - _PROVEN]
        if not rows.size:
            break
    return best, at, costs
