"""What each assumption is worth, on drafts whose acceptance is known."""

import numpy as np
import pytest

from msopt import Control, emulate
from msopt.emulation.assumptions import (
    LENGTH,
    PLACE,
    SAMPLE,
    STEPS,
    DraftRecord,
    length_effect,
    place_effect,
    token_effects,
    tokens_per_round,
)
from msopt.emulation.drawn_rounds import FormulaClock
from msopt.emulation.left_out import FORMULA
from msopt.emulation.played_rounds import PlayedRounds
from msopt.emulation.sources import OnUplink, PlayedTokens, RoundSources
from tests.cases import s1, scenario_of
from tests.tolerances import EXACT

ROUNDS, TEXTS = 4000, 40
CHANCE = {0: (0.9, 0.5), 1: (0.6, 0.2)}
"""Of two prompts: acceptance at two positions."""


class KnownTokens:
    """Two tokens are drafted; every second text is of the other prompt, and the last draft of a text is cut to none."""

    def __init__(self) -> None:
        self.text = np.repeat(np.arange(TEXTS), ROUNDS // TEXTS)[:, None]
        self.chance = np.array([CHANCE[text % 2] for text in self.text[:, 0]])[:, None, :]

    def play(
        self, draft_length: np.ndarray, drafts: np.ndarray, arrives: np.ndarray, on_uplink: OnUplink
    ) -> PlayedTokens:
        del drafts, arrives, on_uplink
        cut = np.diff(self.text, axis=0, append=TEXTS) > 0
        drafted = np.where(cut, 0, draft_length)
        kept = np.random.default_rng(2).random(self.chance.shape) < self.chance
        accepted = np.where(cut, 0, np.cumprod(kept, axis=2).sum(axis=2))
        return PlayedTokens(drafted, accepted, accepted + 1)

    @property
    def record(self) -> DraftRecord:
        return DraftRecord(self.text, self.text % 2, np.zeros_like(self.text), self.chance)


@pytest.fixture(scope="module")
def known() -> tuple[PlayedRounds, DraftRecord]:
    scenario = scenario_of(s1())
    control = Control(problem="heterogeneous", draft_length=[2], bandwidth_hz=[scenario.equal_share_hz])
    source = KnownTokens()
    clock = FormulaClock(scenario, FORMULA, np.random.SeedSequence(0))
    return emulate(scenario, control, ROUNDS, sources=RoundSources(source, clock, 100)), source.record


def test_each_assumption_alone(known: tuple[PlayedRounds, DraftRecord]) -> None:
    played, record = known
    law = scenario_of(s1()).acceptance
    effects = {one.assumption: one for one in token_effects(law, np.array([2]), played, record)}
    first, second = 0.75, 0.35
    alpha = (first + second) / 2
    one_for_all = 1 + alpha + alpha**2
    by_position = 1 + first + first * second
    by_prompt = 1 + first + (0.9 * 0.5 + 0.6 * 0.2) / 2
    assert effects["position in the draft"].tokens == pytest.approx(by_position - one_for_all, rel=EXACT)
    assert effects["each prompt's own acceptance"].tokens == pytest.approx(by_prompt - by_position, rel=EXACT)
    assert effects["dependence along a draft"].tokens == pytest.approx(0.0, abs=1e-12)
    assert effects[SAMPLE].tokens == pytest.approx(
        by_prompt - float(law.expected_tokens(np.array([2.0]))[0]), rel=EXACT
    )
    cut = effects["rounds cut by the end of a text"]
    won = played.tokens[played.drafted > 0].mean()
    assert cut.tokens == pytest.approx(played.tokens.mean() - won, rel=EXACT)
    assert cut.low < cut.tokens < cut.high < 0.0
    luck = effects["luck of the draws"]
    assert luck.low < 0.0 < luck.high
    assert one_for_all + sum(effects[step].tokens for step in STEPS) == pytest.approx(played.tokens.mean(), rel=EXACT)


def test_acceptance_that_falls_along_a_text(known: tuple[PlayedRounds, DraftRecord]) -> None:
    """0.8 in the first half of every text and 0.2 in the second, whose last draft is cut: 50 drafts and 49."""
    played, record = known
    place = np.tile(np.arange(100), TEXTS)[:, None]
    chance = np.broadcast_to(np.where(place < 50, 0.8, 0.2)[..., None], record.chance.shape)
    effect = place_effect(np.array([2]), played, DraftRecord(record.text, record.prompt, place, chance))
    one = (50 * 0.8 + 49 * 0.2) / 99
    apart = (50 * (1 + 0.8 + 0.64) + 49 * (1 + 0.2 + 0.04)) / 99
    assert effect.assumption == PLACE
    assert effect.tokens == pytest.approx(apart - (1 + one + one**2), rel=EXACT)
    assert effect.low == pytest.approx(effect.tokens, rel=1e-6), "all texts are alike"
    alike = place_effect(np.array([2]), played, DraftRecord(record.text, record.prompt, place, record.chance))
    assert alike.tokens == pytest.approx(0.0, abs=1e-12)


def test_the_interval_of_tokens_is_that_of_equal_texts(known: tuple[PlayedRounds, DraftRecord]) -> None:
    """Texts of equally many rounds: the jackknife is Student's interval of their means."""
    played, record = known
    means, reaches, whole = tokens_per_round(played, record)
    by_text = played.tokens[:, 0].reshape(TEXTS, -1).mean(axis=1)
    assert means[0] == pytest.approx(by_text.mean(), rel=EXACT)
    wanted = 2.022691 * by_text.std(ddof=1) / np.sqrt(TEXTS)  # Student's 97.5 % point with 39 degrees of freedom
    assert reaches[0] == pytest.approx(wanted, rel=1e-6)
    assert whole == pytest.approx(wanted, rel=1e-6)


def test_one_text_alone_has_an_interval_over_its_parts(known: tuple[PlayedRounds, DraftRecord]) -> None:
    """Eight parts of as many rounds: Student's interval of their means."""
    played, record = known
    alone = DraftRecord(np.zeros_like(record.text), record.prompt, record.place, record.chance)
    _, reaches, whole = tokens_per_round(played, alone)
    by_part = played.tokens[:, 0].reshape(8, -1).mean(axis=1)
    wanted = 2.364624 * by_part.std(ddof=1) / np.sqrt(8)  # Student's 97.5 % point with 7 degrees of freedom
    assert reaches[0] == pytest.approx(wanted, rel=1e-6)
    assert whole == pytest.approx(wanted, rel=1e-6)


def test_drafts_of_another_length_begin_elsewhere(known: tuple[PlayedRounds, DraftRecord]) -> None:
    """The first of two tokens against drafts of one token that are accepted alike, and less by 0.1."""
    played, record = known
    same = length_effect(np.array([1]), known, known)
    assert same.tokens == pytest.approx(0.0, abs=1e-12)
    better = DraftRecord(record.text, record.prompt, record.place, record.chance + 0.1)
    effect = length_effect(np.array([1]), (played, better), known)
    assert effect.assumption == LENGTH
    assert effect.tokens == pytest.approx(0.1, rel=EXACT)
    assert effect.low < effect.tokens < effect.high
