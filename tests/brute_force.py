"""An independent oracle: the design's problems solved by enumeration and root finding only.

Nothing here comes from ``msopt`` and no closed form of the design is used: a deadline is the root
of the bandwidth budget, the bandwidth of a rate and the common downlink delay are roots of the rate
functions; lengths, modes and outcomes are enumerated. Scenarios are plain dicts in the shape of a
scenario file; a (..., K) array has the devices on its last axis. Times in s, bandwidths in Hz.

Optima may tie (equal devices, modes hidden behind the slowest device): compare values, and that a
reported decision attains them, before comparing decisions.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import poch

Scenario = dict[str, Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
XTOL, RTOL = 1e-16, 4 * np.finfo(float).eps  # tolerances on the logarithm of a root
WIDEN = 1e-6  # brackets are exact in theory; this much wider, their signs survive round-off


def roots(f: Callable[..., Floats], low: Floats, high: Floats, by_brentq: bool) -> Floats:
    """Roots y_i of f(y, i) between ``low`` and ``high``: by brentq one by one, or all at once.

    All at once: Chandrupatla's method, which brackets like brentq's (a and b hold the root, c is the
    point before; inverse quadratic steps t from a towards b where they are safe, else bisection).
    """
    index = np.arange(low.size)
    a, b = high + WIDEN, low - WIDEN
    if by_brentq:
        pairs = [(lambda y, i=i: f(np.array([y]), index[[i]])[0], b[i], a[i]) for i in index]
        return np.array([brentq(*pair, xtol=XTOL, rtol=RTOL) for pair in pairs])
    fa, fb, t = f(a, index), f(b, index), np.full(low.size, 0.5)
    assert np.all(np.sign(fa) * np.sign(fb) < 0)
    for _ in range(200):
        y = a + t * (b - a)
        value = f(y, index)
        same = np.sign(value) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = y, value
        width, tolerance = np.abs(b - a), XTOL + RTOL / 2 * np.abs(a)
        if np.all((fa == 0) | (width <= tolerance)):
            return a
        with np.errstate(all="ignore"):  # where found already, a step may be 0/0: it is bisected
            least = np.fmin(0.5, tolerance / width)
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        t = np.where(safe, t, 0.5).clip(least, 1 - least)
    raise ArithmeticError("a bracketed root was not found")


def column(scenario: Scenario, key: str) -> Floats:
    """One number of every device; SNRs as ratios."""
    values = np.array([device[key] for device in scenario["devices"]], dtype=float)
    return np.asarray(10 ** (values / 10)) if key.endswith("_db") else values


def uplink_rate(scenario: Scenario, hz: Floats) -> Floats:
    """Rates in bit/s of devices that send over ``hz`` (..., K)."""
    radio, snr = scenario["radio"], column(scenario, "uplink_snr_db")
    if radio.get("uplink_sharing", "fixed-snr") == "power-limited":
        snr = snr * radio["uplink_bandwidth_hz"] / hz
    return np.asarray(hz * np.log1p(snr) / math.log(2))


def bandwidth_of_rate(scenario: Scenario, rate: Floats, by_brentq: bool) -> Floats:
    """Bandwidths at which ``rate`` (..., K) is reached; beyond the whole band grown linearly."""
    band, snr = scenario["radio"]["uplink_bandwidth_hz"], column(scenario, "uplink_snr_db")
    share = rate / uplink_rate(scenario, band + 0 * snr)  # fixed SNR; else too much, by concavity
    if scenario["radio"].get("uplink_sharing", "fixed-snr") == "power-limited":
        partial = (share > 0) & (share < 1)
        ratio, unit = (snr + 0 * rate)[partial], rate[partial] * math.log(2) / band
        low = np.log(unit**2 / ratio)  # too little, by log1p(z) <= sqrt(z)

        def surplus(y: Floats, i: Ints) -> Floats:
            return np.asarray(np.log(np.exp(y) * np.log1p(ratio[i] / np.exp(y)) / unit[i]))

        share[partial] = np.exp(roots(surplus, low, np.log(share[partial]), by_brentq))
    return np.asarray(share * band)


def deadlines(scenario: Scenario, lengths: Ints, by_brentq: bool = False) -> Floats:
    """Least draft and upload time of each row of ``lengths`` (N, K), at the best bandwidths.

    The unknown is the time beyond the longest drafting. With the whole band for each device it is
    too short, with an equal share for each that drafts surely enough.
    """
    band, payload = scenario["radio"]["uplink_bandwidth_hz"], scenario["payload"]
    busy, result = lengths.any(axis=1), np.zeros(len(lengths))
    bits = lengths[busy] * float(payload["token_bits"] + payload["distribution_bits"])
    drafting = lengths[busy] * column(scenario, "draft_s_per_token")
    spare = drafting.max(axis=1, keepdims=True) - drafting

    def overdraft(y: Floats, i: Ints) -> Floats:
        rate = bits[i] / (np.exp(y)[:, None] + spare[i])
        return np.asarray(np.log(bandwidth_of_rate(scenario, rate, by_brentq).sum(axis=1) / band))

    equal = band / np.maximum(1, np.count_nonzero(bits, axis=1, keepdims=True)) + 0 * bits
    low, high = (
        np.log((bits / uplink_rate(scenario, hz) - spare).max(axis=1, initial=0)) for hz in (band + 0 * bits, equal)
    )
    result[busy] = drafting.max(axis=1) + np.exp(roots(overdraft, low, high, by_brentq))
    return result


def deadline_of_lengths(scenario: Scenario, lengths: Sequence[int]) -> float:
    """Least draft and upload time of one length vector, by brentq."""
    return float(deadlines(scenario, np.array([lengths]), by_brentq=True)[0])


def survival(device: dict[str, Any], length: int) -> float:
    """Probability that the first ``length`` drafted tokens are all accepted."""
    if "acceptance_curve" in device:
        curve = [1.0, *device["acceptance_curve"]]
        while len(curve) <= length:  # the last measured ratio goes on
            curve.append(curve[-1] ** 2 / curve[-2] if curve[-2] > 0 else 0.0)
        return float(curve[length])
    mean, deviation = device["acceptance"], device.get("acceptance_std", 0.0)
    if deviation == 0:
        return float(mean**length)
    total = mean * (1 - mean) / deviation**2 - 1  # a + b of the Beta law; its mean of x^length:
    return float(poch(mean * total, length) / poch(total, length))


def expected_tokens(device: dict[str, Any], length: int) -> float:
    """Expected tokens of a round in which the device drafts ``length``."""
    return math.fsum(survival(device, drafted) for drafted in range(length + 1))


def per_device(scenario: Scenario, lengths: Ints, law: Callable[..., float]) -> Floats:
    """``law`` (survival or expected_tokens) of every device at ``lengths`` (N, K)."""
    tables = [[law(d, n) for n in range(lengths.max() + 1)] for d in scenario["devices"]]
    return np.array(tables)[np.arange(lengths.shape[1]), lengths]


def goodputs(scenario: Scenario, lengths: Ints, other_s: Floats) -> Floats:
    """Tokens per second of each row of ``lengths``: rounds of verification and ``other_s``."""
    server = scenario["server"]
    verify = server["verify_base_s"] + server.get("verify_per_device_s", 0.0) * lengths.shape[1]
    verify = verify + server.get("verify_per_token_s", 0.0) * (lengths + 1).sum(axis=1)
    tokens = per_device(scenario, lengths, expected_tokens).sum(axis=1)
    return np.asarray(tokens / (verify + other_s))


def goodput_of_lengths(scenario: Scenario, lengths: Sequence[int]) -> float:
    """Tokens per second of given lengths at the best bandwidths ([MS]'s problems)."""
    row = np.array([lengths])
    return float(goodputs(scenario, row, deadlines(scenario, row, by_brentq=True))[0])


def all_lengths(scenario: Scenario, default_minimum: int, equal: bool = False) -> Ints:
    """Every length vector allowed (up to 16 if no limit is given), or those of one length."""
    limits, count = scenario.get("limits", {}), len(scenario["devices"])
    low, high = limits.get("min_draft_length", default_minimum), limits.get("max_draft_length", 16)
    if equal:
        return np.array([[length] * count for length in range(low, high + 1)])
    return np.array(list(itertools.product(range(low, high + 1), repeat=count)))


def shortest_best(lengths: Ints, scores: Floats) -> int:
    """Index of the best row; of rows level to round-off, of one with the fewest tokens."""
    level = np.flatnonzero(scores >= scores.max() * (1 - 1e-13))
    return int(level[lengths[level].sum(axis=1).argmin()])


def homogeneous_optimum(scenario: Scenario) -> dict[str, Any]:
    """Best single length: ``goodput``, ``length``, ``theta_s`` and ``bandwidth_hz``."""
    draft, payload = column(scenario, "draft_s_per_token"), scenario["payload"]
    lengths, theta = all_lengths(scenario, 1, True), deadline_of_lengths(scenario, [1] * draft.size)
    scores = goodputs(scenario, lengths, deadlines(scenario, lengths, by_brentq=True))
    at = shortest_best(lengths, scores)
    rate = (payload["token_bits"] + payload["distribution_bits"]) / (theta - draft)
    hertz, goodput = bandwidth_of_rate(scenario, rate, by_brentq=True).tolist(), float(scores[at])
    length = int(lengths[at, 0])
    return {"goodput": goodput, "length": length, "theta_s": theta, "bandwidth_hz": hertz}


def heterogeneous_optimum(scenario: Scenario) -> dict[str, Any]:
    """Best of all length vectors: ``goodput`` (scored again by brentq) and ``lengths``."""
    lengths = all_lengths(scenario, 1)
    scores = goodputs(scenario, lengths, deadlines(scenario, lengths))
    best = lengths[shortest_best(lengths, scores)].tolist()
    return {"goodput": goodput_of_lengths(scenario, best), "lengths": best}


def correction_of_modes(scenario: Scenario, rejected: Sequence[int], modes: Sequence[str]) -> float:
    """Correction time of the rejected devices (indices) in given modes, at the best powers.

    With r rejected, each has 1/r of the band. Downlink power is r times as dense on such a share:
    device k receives (Bd/r) log2(1 + (p_k/P) SNRd_k r) bit/s, so ending at t takes p_k/P =
    (2^(V r/(Bd t)) - 1)/(SNRd_k r); all end together, when these add up to 1.
    """
    if not rejected:
        return 0.0
    radio, bits, r = scenario["radio"], scenario["payload"]["distribution_bits"], len(rejected)
    share = radio["uplink_bandwidth_hz"] / r + np.zeros(len(scenario["devices"]))
    uplink = bits / uplink_rate(scenario, share)
    downlink = column(scenario, "downlink_snr_db") * r
    chosen = list(zip(rejected, modes, strict=True))
    slowest = max((float(uplink[k]) for k, mode in chosen if mode == "uplink"), default=0.0)
    snr = downlink[[k for k, mode in chosen if mode == "downlink"]]
    if snr.size == 0:
        return slowest
    nats = bits * r / radio["downlink_bandwidth_hz"] * math.log(2)

    def overdraft(y: Floats, _: Ints) -> Floats:
        return np.asarray(np.log((np.expm1(nats / np.exp(y)) / snr).sum(keepdims=True)))

    # All the power for the weakest alone: too early; equal powers, the weakest last: late enough.
    low, high = (np.log([nats / np.log1p(snr.min() / n)]) for n in (1, snr.size))
    return max(slowest, float(np.exp(roots(overdraft, low, high, by_brentq=True))[0]))


def correction_all_uplink(scenario: Scenario, rejected: Sequence[int]) -> float:
    """Correction time when every rejected device uploads its distribution."""
    return correction_of_modes(scenario, rejected, ["uplink"] * len(rejected))


def correction_all_downlink(scenario: Scenario, rejected: Sequence[int]) -> float:
    """Correction time when every rejected device downloads the target's distribution."""
    return correction_of_modes(scenario, rejected, ["downlink"] * len(rejected))


def reaction(scenario: Scenario, rejected: Sequence[int]) -> dict[str, Any]:
    """Fastest of all 2^r mode assignments: ``correction_s`` and ``modes`` (the first, if tied)."""
    choices = list(itertools.product(("uplink", "downlink"), repeat=len(rejected)))
    times = [correction_of_modes(scenario, rejected, modes) for modes in choices]
    return {"correction_s": min(times), "modes": list(choices[times.index(min(times))])}


def expected_corrections(scenario: Scenario, lengths: Ints, policy: str = "best") -> Floats:
    """Correction time of each row of ``lengths``, averaged over all 2^K outcomes.

    ``policy``: "best" (modes free in each outcome), "uplink" or "downlink" (everyone so).
    """
    kept, total = per_device(scenario, lengths, survival), np.zeros(len(lengths))
    for outcome in itertools.product((False, True), repeat=lengths.shape[1]):
        rejected = [k for k, lost in enumerate(outcome) if lost]
        if policy == "best":
            seconds = reaction(scenario, rejected)["correction_s"]
        else:
            seconds = correction_of_modes(scenario, rejected, [policy] * len(rejected))
        total += seconds * np.where(outcome, 1 - kept, kept).prod(axis=1)
    return total


def expected_correction(scenario: Scenario, lengths: Sequence[int], policy: str = "best") -> float:
    """Correction time of a round with given lengths, averaged over all 2^K outcomes."""
    return float(expected_corrections(scenario, np.array([lengths]), policy)[0])


def modes_goodputs(scenario: Scenario, lengths: Ints, corrections: Floats) -> Floats:
    """Tokens per second of each row of ``lengths`` in problem ``modes`` ([UD])."""
    draft = column(scenario, "draft_s_per_token")
    share = scenario["radio"]["uplink_bandwidth_hz"] / draft.size + 0 * draft
    token_s = draft + scenario["payload"]["token_bits"] / uplink_rate(scenario, share)
    return goodputs(scenario, lengths, (lengths * token_s).max(axis=1) + corrections)


def modes_goodput_of_lengths(scenario: Scenario, lengths: Sequence[int], policy: str = "best") -> float:
    """Tokens per second of given lengths in problem ``modes``."""
    row = np.array([lengths])
    return float(modes_goodputs(scenario, row, expected_corrections(scenario, row, policy))[0])


def modes_optimum(scenario: Scenario, policy: str = "best") -> dict[str, Any]:
    """Best lengths of problem ``modes``: ``goodput``, ``lengths``, ``expected_correction_s``."""
    lengths = all_lengths(scenario, 0)
    corrections = expected_corrections(scenario, lengths, policy)
    scores = modes_goodputs(scenario, lengths, corrections)
    at = shortest_best(lengths, scores)
    result = {"goodput": float(scores[at]), "lengths": lengths[at].tolist()}
    return result | {"expected_correction_s": float(corrections[at])}


def random_device(rng: np.random.Generator, name: str, law: str) -> dict[str, Any]:
    """A random device; ``law`` is "geometric", "curve" or "beta"."""
    mean = float(rng.uniform(0.05, 0.98))
    device = {"name": name, "draft_s_per_token": float(rng.uniform(0.001, 0.06))}
    if law == "curve":
        device["acceptance_curve"] = np.cumprod(rng.uniform(0.05, 1, rng.integers(1, 5))).tolist()
    else:
        device["acceptance"] = mean
    if law == "beta":
        device["acceptance_std"] = float(rng.uniform(0.1, 0.9)) * math.sqrt(mean * (1 - mean))
    up, down = rng.uniform(-10, 30, size=2).tolist()
    return device | {"uplink_snr_db": up, "downlink_snr_db": down}


def random_scenario(
    rng: np.random.Generator,
    devices: int,
    longest: tuple[int, int] = (3, 6),
    sharing: str | None = None,
    laws: Sequence[str] = ("geometric",),
) -> Scenario:
    """A wide random scenario: maximum length within ``longest``, each law one of ``laws``.

    Optional keys are left out now and then; ``sharing`` fixes ``uplink_sharing``.
    """
    ranges = [(0.005, 0.4), (0.1, 20.0), (1e6, 60e6), (1e6, 60e6), (1e3, 2.4e6)]
    base, power, up, down, bits = np.exp(rng.uniform(*np.log(ranges).T)).tolist()
    server = {"verify_base_s": base, "downlink_power_w": power}
    for key, most in (("verify_per_device_s", 0.015), ("verify_per_token_s", 0.005)):
        if (draw := rng.random()) > 0.25:  # absent, zero or positive
            server[key] = float(rng.uniform(0, most)) if draw > 0.5 else 0.0
    down = up if rng.random() < 0.5 else down
    radio = {"uplink_bandwidth_hz": up, "downlink_bandwidth_hz": down}
    chosen = sharing or str(rng.choice(["fixed-snr", "power-limited"]))
    if chosen == "power-limited" or rng.random() < 0.5:
        radio["uplink_sharing"] = chosen
    limits = {"max_draft_length": int(rng.integers(longest[0], longest[1] + 1))}
    if (minimum := int(rng.integers(-1, 2))) >= 0:
        limits["min_draft_length"] = minimum
    payload = {"token_bits": int(rng.choice([0, 17, 34])), "distribution_bits": bits}
    names = [f"dev-{k + 1}" for k in range(devices)]
    members = [random_device(rng, name, str(rng.choice(list(laws)))) for name in names]
    scenario = {"name": "random", "server": server, "radio": radio, "payload": payload}
    return scenario | {"limits": limits, "devices": members}
