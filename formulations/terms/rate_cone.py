r"""The rate of a band with power as one exponential cone, scaled at a guess of its signal-to-noise ratio.

A band B with received power S B_0 carries q <= B log_2(1 + S B_0/B). In units of a guess with the ratio M - 1 there,
q' <= B' ln(1 + (M - 1) S'/B') is the cone (q' - B' ln M, B', (B' + (M - 1) S')/M): dividing its third row by M, with
ln M in the first, puts the third beside the second where the ratio is high.
"""

import cvxpy as cp
import numpy as np

from formulations.core.declared import DeclaredProgram
from msopt.arrays import FloatArray


def declare_rate(program: DeclaredProgram, sent: cp.Expression, band: cp.Expression, power: cp.Expression) -> None:
    """Declare that what is sent fits the band and its power, all of shape (K,) or one for all."""
    K = sent.shape[0]
    log_m, third, gain = (program.parameter(name, K, nonneg=True) for name in ("log_m", "third_row", "gain"))
    third_row = cp.multiply(third, band) + cp.multiply(gain, power)
    program.constrain("rate", cp.ExpCone(sent - cp.multiply(log_m, band), band, third_row))


def set_rate(program: DeclaredProgram, snr: FloatArray) -> None:
    """Give its parameters their values for the ratio at the guess."""
    program.set("log_m", np.log1p(snr))
    program.set("third_row", 1.0 / (1.0 + snr))
    program.set("gain", snr / (1.0 + snr))
