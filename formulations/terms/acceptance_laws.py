r"""Goodput of a device in per-second variables, g_k <= s E_k(l_k/s), for both kinds of acceptance law.

Geometric: the exponential cone s exp(ln(alpha) (l + s)/s) <= s - (1 - alpha) g, g a variable.
The laws at the ends need no rebuilding: alpha = 1 counts l + s tokens per second and alpha = 0 counts s, by
weights in the objective; their cones are idle.

Measured curves and Beta laws: E_k is the least of its chords, g <= s (E(j) - j S(j+1)) + S(j+1) l for every
whole j between the limits.
"""

import cvxpy as cp
import numpy as np

from formulations.terms.program import PerSecondProgram

AS_GOOD_AS_CERTAIN, AS_GOOD_AS_NEVER = 1e-6, 1e-9
"""Acceptance this close to 1 (times the longest round) or 0 counts as that: the cone loses it in round-off."""


def geometric_goodput(program: PerSecondProgram, s: cp.Variable, length: cp.Expression) -> cp.Expression:
    """Declare g_k <= s E_k(l_k/s) for the geometric law; returns the goodputs, with alpha = 0 and 1 among the laws."""
    K = program.scenario.device_count
    g = program.variable("g", K)
    log_alpha, log_alpha_length = (
        program.parameter(name, K, nonpos=True) for name in ("log_alpha", "log_alpha_length")
    )
    rejection = program.parameter("rejection", K, nonneg=True)
    weights = [program.parameter(name, K, nonneg=True) for name in ("inner", "certain_length", "end")]
    exponent = log_alpha * s + cp.multiply(log_alpha_length, length)
    program.constrain("tokens", cp.ExpCone(exponent, s * np.ones(K), s - cp.multiply(rejection, g)))
    program.constrain("some_tokens", g >= 0.0)
    counted: cp.Expression = cp.multiply(weights[0], g) + cp.multiply(weights[1], length) + weights[2] * s
    return counted


def set_geometric_goodput(program: PerSecondProgram) -> None:
    """Give the law's parameters their values."""
    alpha = program.scenario.acceptance.mean
    _, greatest = program.scenario.length_limits(program.problem_name)
    certain, never = (1.0 - alpha) * (greatest + 1) < AS_GOOD_AS_CERTAIN, alpha < AS_GOOD_AS_NEVER
    inner = ~(certain | never)
    log_alpha = np.log(np.where(inner, alpha, 0.5))
    program.set("log_alpha", log_alpha)
    program.set("log_alpha_length", log_alpha * program.length_0)
    program.set("rejection", np.where(inner, 1.0 - alpha, 0.5))
    program.set("inner", inner / program.tokens_0)
    program.set("certain_length", np.where(certain, program.length_0, 0.0) / program.tokens_0)
    program.set("end", ~inner / program.tokens_0)


def piecewise_goodput(program: PerSecondProgram, s: cp.Variable, length: cp.Expression) -> cp.Expression:
    """Declare the goodputs of laws that are piecewise linear between whole lengths, one chord a row."""
    least, greatest = program.scenario.length_limits(program.problem_name)
    shape = (max(greatest - least, 1), program.scenario.device_count)
    g = program.variable("g", shape[1])
    intercept, slope = (
        program.parameter("chord_intercept", shape),
        program.parameter("chord_slope", shape, nonneg=True),
    )
    every = np.ones((shape[0], 1))
    chord = intercept * s + cp.multiply(slope, every @ cp.reshape(length, (1, shape[1]), order="C"))
    program.constrain("tokens", every @ cp.reshape(g, (1, shape[1]), order="C") <= chord)
    return g


def set_piecewise_goodput(program: PerSecondProgram) -> None:
    """Give the chords their values, in units of the guess."""
    least, greatest = program.scenario.length_limits(program.problem_name)
    acceptance = program.acceptance
    start = np.arange(least, max(greatest, least + 1), dtype=float)[:, None] * np.ones(program.scenario.device_count)
    slope = acceptance.survival(start + 1.0)
    program.set("chord_intercept", (acceptance.expected_tokens(start) - start * slope) / program.tokens_0)
    program.set("chord_slope", slope * program.length_0 / program.tokens_0)


def goodput(program: PerSecondProgram, s: cp.Variable, length: cp.Expression) -> cp.Expression:
    """Declare the goodputs for the scenario's law."""
    declare = piecewise_goodput if program.chords else geometric_goodput
    return declare(program, s, length)


def set_goodput(program: PerSecondProgram) -> None:
    """Give the law's parameters their values."""
    (set_piecewise_goodput if program.chords else set_geometric_goodput)(program)
