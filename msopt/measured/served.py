"""What a running vLLM says about acceptance: its log (`vllm_log`) or its Prometheus text (`vllm_prometheus`).

Both become counts, and counts of several lines or engines are added. The "per-position acceptance rate" l is that of
*all* drafts of an interval whose first l tokens were accepted, so it is S(l) where all drafts had l tokens;
accepted/drafted is no acceptance probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.optimize import brentq

from msopt.errors import ParameterError, describe
from msopt.measured.profile import CurvePoint
from msopt.measured.served_counts import Counts, curve_of
from msopt.measured.vllm_log import MARK, plain_lines, read_log, undecoded
from msopt.measured.vllm_prometheus import COUNTER, read_prometheus
from msopt.model.acceptance import Acceptance
from msopt.model.validation import MOST_SERVED, check_whole


@dataclass(frozen=True)
class Served:
    """Acceptance of one model as vLLM served it.

    Attributes
    ----------
    drafts, drafted, accepted : int
        Drafts verified; tokens drafted and accepted in all [token].
    curve : tuple of CurvePoint
        S(1), S(2), ... with intervals; empty where vLLM told accepted and drafted only.
    pooled : tuple (alpha, length) or None
        In place of a curve: the geometric law's acceptance, and the draft length that it was found at.
    notes : tuple of str
        What a user should be told.
    positions : int
        The most tokens that the server may draft, accepted or not; 0 where it is not told [token].
    method, draft_sample_method : str or None
        What drafts ("draft_model", "eagle3", ...) and how ("greedy", "probabilistic"), where the server's log says so.
    """

    drafts: int
    drafted: int
    accepted: int
    curve: tuple[CurvePoint, ...]
    pooled: tuple[float, int] | None = None
    notes: tuple[str, ...] = ()
    positions: int = 0
    method: str | None = None
    draft_sample_method: str | None = None

    @classmethod
    def of_pooled(cls, rate: float, draft_length: int) -> Self:
        """Where only accepted/drafted at some draft length is known, no token behind a rejection being accepted."""
        alpha = pooled_acceptance(rate, draft_length)
        note = (
            f"pooled rate {rate:g} is taken as accepted over drafted tokens of drafts of {draft_length}, none counted "
            f"behind a rejection: {1.0 + draft_length * rate:.4g} tokens a round; a rate that counts those, too "
            "(vLLM's V0 engine), promises too much: give the tokens a round as --mean-length in its place"
        )
        return cls(0, 0, 0, (), (alpha, draft_length), (note,))

    @classmethod
    def of_mean_length(cls, mean: float, draft_length: int) -> Self:
        """Where only the tokens a round at some draft length are known, the target's own token among them."""
        check_whole("draft length", draft_length, 1, MOST_SERVED)
        if not 1.0 <= mean <= draft_length + 1.0:
            raise ParameterError(
                f"mean length = {mean:g} is outside [1, {draft_length + 1}]: drafts of {draft_length} yield that many "
                "tokens a round, the target's own token among them"
            )
        note = (
            f"mean length {mean:g} is taken as tokens a round with the target's own token; where that one is not "
            "counted, give 1 more"
        )
        alpha = pooled_acceptance(min(1.0, (mean - 1.0) / draft_length), draft_length)
        return cls(0, 0, 0, (), (alpha, draft_length), (note,))

    def law(self, devices: int) -> Acceptance:
        """The same law for each of so many devices: the curve, or the geometric law of the pooled rate."""
        if self.pooled is not None:
            return Acceptance.of([self.pooled[0]] * devices)
        return Acceptance.of([0.0] * devices, curves=[[point.survival for point in self.curve]] * devices)


def pooled_acceptance(pooled: float, draft_length: int) -> float:
    """The geometric law's alpha whose drafts of one length have accepted/drafted = pooled.

    E = 1 + K pooled tokens a round, so pooled = alpha (1 - alpha^K)/((1 - alpha) K), which rises with alpha.

    Raises
    ------
    ParameterError
        For a rate outside [0, 1], or a length below 1.

    Examples
    --------
    >>> pooled_acceptance(44 / 161, 7)
    0.671
    """
    if not 0.0 <= pooled <= 1.0:
        raise ParameterError(f"pooled rate = {pooled:g} is outside [0, 1]")
    check_whole("draft length", draft_length, 1, MOST_SERVED)
    if pooled in (0.0, 1.0):
        return pooled
    powers = np.arange(1.0, draft_length + 1.0)
    return float(brentq(lambda alpha: np.mean(alpha**powers) - pooled, 0.0, 1.0, xtol=1e-15, rtol=1e-14))


def parse_vllm(text: str, model: str | None = None, draft_length: int | None = None) -> Served:
    """What a log or a Prometheus text of vLLM says.

    Parameters
    ----------
    text : str
        Bytes that are not UTF-8 as lone surrogates (`whole_files.read_log`).
    model : str, optional
        The model, where counters of several are there.
    draft_length : int, optional
        The tokens of every draft, where only accepted and drafted tokens are told [token].

    Raises
    ------
    ParameterError
        One line, without the file's name, where the text says nothing on speculative decoding, is cut short,
        contradicts itself, speaks of several models, or needs a draft length.
    """
    if draft_length is not None:
        check_whole("pooled length", draft_length, 1, MOST_SERVED)
    if text.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        raise ParameterError("is a text in UTF-16; write it as UTF-8")
    lines = plain_lines(text)
    notes = undecoded(lines)
    if any(line.startswith(COUNTER) for line in lines):
        if lines[-1].startswith(COUNTER):
            # The format asks for a line break, and without it half a number looks like a whole one.
            raise ParameterError(f"is cut short: its last line, {describe(lines[-1])}, has no line break")
        served = _joined(read_prometheus(lines, model), draft_length)
        return replace(served, notes=(*notes, *served.notes))
    if any(MARK.search(line) for line in lines):
        if model is not None:
            raise ParameterError("a log does not say which model a line is of; a model can be named for counters only")
        log = read_log(lines)
        served = _joined(log.counts, draft_length, log.lengths)
        notes += log.notes
        notes += served.notes
        return replace(served, notes=tuple(notes), method=log.method, draft_sample_method=log.draft_sample_method)
    raise ParameterError(
        f'holds neither "SpecDecoding metrics:" lines nor {COUNTER}... counters: no drafts were verified, statistics '
        "were switched off, or it is not vLLM's"
    )


def _joined(counts: Sequence[Counts], draft_length: int | None, told: frozenset[int] = frozenset()) -> Served:
    """Counts added up: those by position where there are any, else those with drafts, else tokens alone."""
    counts = [part for part in counts if part.drafted]
    if not counts:
        raise ParameterError("has no drafts yet: nothing was drafted")
    by_position = [part for part in counts if part.at]
    with_drafts = [part for part in counts if part.drafts is not None]
    used = by_position or with_drafts or counts
    notes = []
    if len(used) < len(counts):
        notes.append(f"{len(counts) - len(used)} of {len(counts)} lines that tell less than the others are left out")
    if draft_length is not None and with_drafts:
        raise ParameterError("tells how long its drafts are; no --pooled-length is to be given")
    if draft_length is None and not with_drafts:
        raise ParameterError(
            "tells accepted and drafted tokens only: give the length of its drafts, too, as --pooled-length"
        )
    if draft_length is not None:
        used = [part.of_length(draft_length) for part in used]
    drafts = sum(part.drafts or 0 for part in used)
    drafted, accepted = (sum(getattr(part, key) for part in used) for key in ("drafted", "accepted"))
    if by_position:
        curve, more = curve_of(used, told)
        positions = max(len(part.at) for part in used)
        return Served(drafts, drafted, accepted, curve, notes=(*notes, *more), positions=positions)
    length = draft_length or max(1, round(drafted / drafts))
    alpha = pooled_acceptance(min(1.0, accepted / (drafts * length)), length)
    notes.append(
        f"no rates by position: alpha = {alpha:.4g} is that of the geometric law with {accepted} of {drafted} "
        f"tokens accepted at length {length}"
    )
    return Served(drafts, drafted, accepted, (), (alpha, length), tuple(notes), positions=length)
