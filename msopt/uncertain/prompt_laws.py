"""How acceptance differs from prompt to prompt: laws to draw it from, to plan with, and to learn by.

Within a prompt every device's acceptance follows the geometric law; from prompt to prompt its probability is drawn
anew, independently for each device. A round of a prompt that nobody knows yet then follows the mixture law: E is linear
in the law, so the goodput of a control under it is the mean of its goodputs over prompts, exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from msopt.arrays import FloatArray, Frozen, numbers, vector
from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance, beta_counts
from msopt.model.mixture import mixed
from msopt.model.scenario import Scenario


class PromptLaw(Protocol):
    """The law of K devices' acceptances over prompts."""

    def draw(self, rng: np.random.Generator, prompts: int) -> FloatArray:
        """Acceptances of some prompts, shape (prompts, K) [1]."""
        ...

    def mixture(self, longest: int) -> Acceptance:
        """The law of rounds of a prompt that is not known, exact up to a longest draft [token]."""
        ...


@dataclass(frozen=True, eq=False)
class BetaPrompts(Frozen):
    """A Beta law for each device, known or learned: conjugate to what rounds tell of the acceptance.

    Attributes
    ----------
    a, b : arrays, shape (..., K)
        Counts above 0: as if so many tokens had been accepted and rejected.
    """

    a: FloatArray
    b: FloatArray

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            counts = numbers(getattr(self, name), f"counts {name}")
            if not np.all((counts > 0.0) & np.isfinite(counts)):
                raise ParameterError(f"counts {name} of a Beta law hold a number that is not finite and above 0")
            object.__setattr__(self, name, counts)

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The Beta laws of a scenario's devices.

        Raises
        ------
        ParameterError
            Where a device has another law: nothing is known of how its acceptance differs from prompt to prompt.
        """
        law = scenario.acceptance
        for k, (std, curve) in enumerate(zip(law.std, law.curves, strict=True)):
            if curve is not None or std == 0.0:
                raise ParameterError(
                    f"{scenario.device_label(k)}: acceptance_std is missing; without it nothing is known of how "
                    "acceptance differs from prompt to prompt"
                )
        return cls(*beta_counts(law.mean, law.std))

    @property
    def mean(self) -> FloatArray:
        """Mean acceptances, shape (..., K) [1]."""
        return np.asarray(self.a / (self.a + self.b))

    @property
    def std(self) -> FloatArray:
        """Deviations of the acceptances, shape (..., K) [1]."""
        mean = self.mean
        return np.sqrt(mean * (1.0 - mean) / (self.a + self.b + 1.0))

    def after(self, accepted: Any, rejected: Any) -> Self:
        """The laws once some tokens more were accepted, and some rejected, at visited positions.

        A draft of L tokens of which the first A are accepted has the likelihood alpha^A (1 - alpha)^[A < L]: a run of
        successes, cut off at L. So A and [A < L] are added to the counts; tokens behind a rejection tell nothing.
        """
        return type(self)(self.a + accepted, self.b + rejected)

    def draw(self, rng: np.random.Generator, prompts: int) -> FloatArray:
        """Acceptances of some prompts, shape (prompts, ..., K) [1]."""
        return rng.beta(self.a, self.b, size=(prompts, *self.a.shape))

    def mixture(self, longest: int) -> Acceptance:
        """S(l) = prod_{i<l} (a + i)/(a + b + i), for any length."""
        del longest
        return Acceptance.of(self.mean, self.std)


@dataclass(frozen=True, eq=False)
class SampledPrompts(Frozen):
    """Acceptances measured on prompts, one sample for each device; prompts to come are like those, equally likely.

    Attributes
    ----------
    samples : tuple of K arrays
        Each device's acceptances [1], at least one.
    """

    samples: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        held = tuple(vector(sample, "acceptances of prompts") for sample in self.samples)
        for k, sample in enumerate(held):
            if not np.all((sample >= 0.0) & (sample <= 1.0)):
                raise ParameterError(f"acceptances of prompts of device {k}: one is outside [0, 1]")
        object.__setattr__(self, "samples", held)

    @classmethod
    def alike(cls, sample: Sequence[float] | FloatArray, devices: int) -> Self:
        """The same sample for each device, drawn from independently."""
        return cls((vector(sample, "acceptances of prompts"),) * devices)

    def draw(self, rng: np.random.Generator, prompts: int) -> FloatArray:
        """Acceptances of some prompts, drawn from the samples with replacement, shape (prompts, K) [1]."""
        return np.column_stack([rng.choice(sample, prompts) for sample in self.samples])

    def mixture(self, longest: int) -> Acceptance:
        """The mean of the samples' geometric curves, exact up to a longest draft [token]."""
        laws = [mixed([Acceptance.of(sample)], longest) for sample in self.samples]
        return Acceptance.of([law.mean[0] for law in laws], curves=[law.curves[0] for law in laws])
