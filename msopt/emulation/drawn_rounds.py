"""Tokens drawn from the acceptance laws, and step times from the scenario: the sources of a play without models.

Every kind of chance has a stream of its own, so that what one effect changes is not drowned in other luck: plays of one
seed meet the same drafts.
"""

from collections.abc import Callable

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.left_out import LeftOut
from msopt.emulation.sources import OnUplink, PlayedTokens
from msopt.model.acceptance import Acceptance, beta_counts
from msopt.model.scenario import Scenario

_LEAST = np.finfo(float).tiny


class LawTokens:
    """Accepted prefixes by the laws: the first l tokens of a draft are accepted where a uniform number is below S(l).

    Parameters
    ----------
    acceptance : Acceptance
    prompt_rounds : int
        Rounds of one prompt: under the Beta law one alpha holds so long.
    text_tokens : int or None
        Tokens of one text, which then takes the place of the prompt; None: texts without end.
    seed : SeedSequence
    kept : array, shape (R, K), optional
        What is left of every token's acceptance in each of the rounds to come, where it drifts: S(l) kept^l [1].
    """

    def __init__(
        self,
        acceptance: Acceptance,
        prompt_rounds: int,
        text_tokens: int | None,
        seed: np.random.SeedSequence,
        kept: FloatArray | None = None,
    ) -> None:
        self._law, self._prompt_rounds, self._text_tokens = acceptance, prompt_rounds, text_tokens
        self._kept = kept
        self._uniform, self._prompts, places = (np.random.default_rng(child) for child in seed.spawn(3))
        self._beta = (acceptance.std > 0.0) & np.array([curve is None for curve in acceptance.curves])
        count = acceptance.mean.size
        self._played = 0
        self._alpha = np.zeros(count)
        self._left = places.integers(1, text_tokens, size=count, endpoint=True) if text_tokens else np.zeros(count, int)
        self._ended = np.ones(count, dtype=bool)

    def play(self, draft_length: IntArray, drafts: BoolArray, arrives: BoolArray, on_uplink: OnUplink) -> PlayedTokens:
        """The next n rounds; where rejections are corrected is nothing to a law."""
        uniform = np.maximum(self._uniform.random(draft_length.shape), _LEAST)
        fresh = self._fresh_alpha(draft_length.shape)
        planned = np.where(drafts, draft_length, 0)
        here = slice(self._played, self._played + len(planned))
        kept = None if self._kept is None else self._kept[here]
        runs = _runs(self._law.survival, uniform, planned, kept)
        if self._text_tokens:
            return self._texts(planned, arrives, runs, uniform, fresh, kept)
        if self._beta.any():
            alpha = self._alpha_by_rounds(fresh) * (1.0 if kept is None else kept)
            runs = np.where(self._beta, _geometric_runs(uniform, alpha, planned), runs)
        self._played += len(planned)
        return PlayedTokens(planned, np.where(arrives, runs, 0), np.where(arrives, runs + 1, 0))

    def _fresh_alpha(self, shape: tuple[int, ...]) -> FloatArray:
        """The acceptance that a prompt has which begins in a round, for every round."""
        if not self._beta.any():
            return np.zeros((1, 1))
        a, b = beta_counts(self._law.mean[self._beta], self._law.std[self._beta])
        fresh = np.zeros(shape)
        fresh[:, self._beta] = self._prompts.beta(a, b, size=(shape[0], a.size))
        return fresh

    def _alpha_by_rounds(self, fresh: FloatArray) -> FloatArray:
        """The acceptance of the prompt at hand, where prompts last so many rounds."""
        place = np.arange(len(fresh))
        begun = place - (self._played + place) % self._prompt_rounds
        alpha = np.where(begun[:, None] >= 0, fresh[np.maximum(begun, 0)], self._alpha)
        self._alpha = alpha[-1]
        return alpha

    def _texts(
        self,
        planned: IntArray,
        arrives: BoolArray,
        runs: IntArray,
        uniform: FloatArray,
        fresh: FloatArray,
        kept: FloatArray | None,
    ) -> PlayedTokens:
        """Round by round: where a text stands depends on all rounds before."""
        drafted, tokens = np.empty_like(planned), np.empty_like(planned)
        some = bool(self._beta.any())
        left, ended, alpha = self._left, self._ended, self._alpha
        for place, length in enumerate(planned):
            np.minimum(length, left, out=drafted[place])
            if some:
                alpha = np.where(ended, fresh[place], alpha)
                own = _geometric_runs(uniform[place], alpha if kept is None else alpha * kept[place], length)
                runs[place] = np.where(self._beta, own, runs[place])
            new = np.minimum(runs[place] + 1, left) * arrives[place]
            left = left - new
            ended = left == 0
            left = left + self._text_tokens * ended
            tokens[place] = new
        self._left, self._ended, self._alpha = left, ended, alpha
        self._played += len(planned)
        return PlayedTokens(drafted, np.where(arrives, np.minimum(runs, drafted), 0), tokens)


def _runs(
    survival: Callable[[IntArray], FloatArray], uniform: FloatArray, longest: IntArray, kept: FloatArray | None
) -> IntArray:
    """The greatest l up to the longest with a uniform number below S(l) kept^l, by bisection: neither rises."""
    low, high = np.zeros_like(longest), longest + 1
    while np.any(high - low > 1):
        middle = (low + high) // 2
        accepted = uniform < (survival(middle) if kept is None else survival(middle) * kept**middle)
        low, high = np.where(accepted, middle, low), np.where(accepted, high, middle)
    return low


def _geometric_runs(uniform: FloatArray, alpha: FloatArray, longest: IntArray) -> IntArray:
    """The same for S(l) = alpha^l with an alpha of each draft's own."""
    with np.errstate(divide="ignore", over="ignore"):
        run = np.log(uniform) / np.minimum(np.log(alpha), -_LEAST)
    return np.minimum(run, longest).astype(np.int64)


class FormulaClock:
    """The formula's step times, lognormal around them where that is asked for."""

    def __init__(self, scenario: Scenario, left_out: LeftOut, seed: np.random.SeedSequence) -> None:
        self._scenario, self._left_out = scenario, left_out
        self._devices, self._server = (np.random.default_rng(child) for child in seed.spawn(2))

    def draft_s(self, drafted: IntArray) -> FloatArray:
        """L_k tau_k [s]."""
        around = self._around_one(self._devices, drafted.shape)
        return np.asarray(drafted * self._scenario.draft_s_per_token * around)

    def verify_s(self, drafted: IntArray, arrives: BoolArray) -> FloatArray:
        """T_ver of the drafts that arrive [s]; nothing where none does."""
        seconds = np.where(arrives.any(axis=-1), self._scenario.verify_s(drafted, arrives), 0.0)
        return np.asarray(seconds * self._around_one(self._server, seconds.shape))

    def _around_one(self, generator: np.random.Generator, shape: tuple[int, ...]) -> FloatArray | float:
        """Lognormal factors with mean 1; exp(s^2) - 1 is the square of their coefficient of variation."""
        if self._left_out.compute_variation == 0.0:
            return 1.0
        variance = float(np.log1p(self._left_out.compute_variation**2))
        return np.asarray(np.exp(np.sqrt(variance) * generator.standard_normal(shape) - 0.5 * variance))
