"""What the synchronous formula leaves out, each under its name and off unless it is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from msopt.emulation.faults import NO_FAULTS, Fault, FaultPlan
from msopt.errors import ParameterError, describe
from msopt.model.validation import MOST_TOKENS, Number, check_whole

LEAST_SHAPE = 2.0
PROMPT_ROUNDS = 16
"""Rounds of a prompt, where nothing else is said and texts have no end."""
LEAST_ROUNDS = 2 * PROMPT_ROUNDS
"""Of a play with `typical` effects: two channels, two prompts."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """What a play has that the formula has not.

    Attributes
    ----------
    text_tokens : int or None
        Tokens of every text; at its end a draft is cut and a new text begins, with an acceptance of its own under the
        Beta law. The first texts begin anywhere, so that devices do not end together. None: texts without end.
    compute_variation : float
        Coefficient of variation of every draft and verification time, lognormal with the formula's mean [1].
    delay_s : float
        Mean of what every draft is under way longer, exponential [s].
    coherence_rounds : int or None
        Rounds after which every channel is drawn anew, the mean power as in the scenario; None: it stays.
    fading_shape : float
        Of the gains (Nakagami; power follows a gamma law of this shape), above 2: with Rayleigh's 1 a mean airtime is
        infinite, and up to 2 its deviation [1].
    solved_anew : bool
        Whether the control is solved anew for each of these channels.
    faults : FaultPlan
        What goes wrong by a plan: drafts lost and late, stragglers, devices that drop out, acceptance that drifts.

    Raises
    ------
    ParameterError
        For a number out of range.
    """

    text_tokens: int | None = None
    compute_variation: float = 0.0
    delay_s: float = 0.0
    coherence_rounds: int | None = None
    fading_shape: float = 3.0
    solved_anew: bool = False
    faults: FaultPlan = NO_FAULTS

    def __post_init__(self) -> None:
        for name in ("text_tokens", "coherence_rounds"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1, MOST_TOKENS)
        for name in ("compute_variation", "delay_s"):
            Number().check(name, getattr(self, name))
        Number(above_zero=True).check("fading_shape", self.fading_shape)
        if self.fading_shape <= LEAST_SHAPE:
            raise ParameterError(f"fading_shape = {describe(self.fading_shape)} is not above {LEAST_SHAPE:g}")
        if self.solved_anew and self.coherence_rounds is None:
            raise ParameterError("solved_anew needs coherence_rounds: without them no channel changes")

    def each(self) -> Iterator[tuple[str, Self]]:
        """Every effect that is asked for, by its name, alone; channels that change, both ways where solved anew."""
        alone = type(self)
        if self.text_tokens is not None:
            yield "ends of texts", alone(text_tokens=self.text_tokens)
        if self.compute_variation > 0.0:
            yield "random compute times", alone(compute_variation=self.compute_variation)
        if self.delay_s > 0.0:
            yield "random delays", alone(delay_s=self.delay_s)
        if self.coherence_rounds is not None:
            fading = alone(coherence_rounds=self.coherence_rounds, fading_shape=self.fading_shape)
            yield "fading, control kept", fading
            if self.solved_anew:
                yield "fading, solved anew", replace(fading, solved_anew=True)
        for name, plan in self.faults.each():
            yield name, alone(faults=plan)


FORMULA = LeftOut()
"""Nothing: the rounds of the formula."""


def typical(rounds: int, device_names: Sequence[str]) -> LeftOut:
    """Every effect at a size that is nothing unusual (ours), for at least `LEAST_ROUNDS` rounds of these devices.

    Texts of 256 tokens; times that vary by a fifth; one draft in 100 five times slower, one in 100 lost; ten or more
    channels, or as many as have whole prompts; the first device of several leaves half way.
    """
    faults = [Fault(kind="straggler", probability=0.01, factor=5.0), Fault(kind="lost", probability=0.01)]
    if len(device_names) > 1:
        faults.append(Fault(kind="dropout", devices=(device_names[0],), first_round=rounds // 2))
    return LeftOut(
        text_tokens=256,
        compute_variation=0.2,
        coherence_rounds=PROMPT_ROUNDS * max(1, rounds // (10 * PROMPT_ROUNDS)),
        solved_anew=True,
        faults=FaultPlan(faults=tuple(faults)),
    )
