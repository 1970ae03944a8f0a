"""Speculative sampling on small vocabularies: laws enumerated over all paths, edge cases, independence of rows."""

import itertools
import math

import pytest
import torch
from scipy.stats import chi2, chisquare
from torch import Tensor

from msopt import ParameterError
from tests.tolerances import EXACT
from tests.verification.devices import generators, played
from verification.exchange import Exchange, device_acceptance, left_out
from verification.messages import Payload, target_levels
from verification.sampling import SamplingRule, at, draw, leading, overlap, ratio, residual, through_end, verify

V, LENGTH = 4, 3
FALSE_ALARM = 1e-4
DRAWS, ROUNDS = 8_000, 100


def markov(seed: int, zeros: bool = False) -> Tensor:
    """A language of V tokens: row i is the law of the token after i."""
    weights = torch.rand(V, V, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    if zeros:
        weights[torch.rand(V, V, generator=torch.Generator().manual_seed(seed + 99)) < 0.4] = 0.0
        weights[:, seed % V] += 0.1
    return weights / weights.sum(-1, keepdim=True)


def languages() -> list[tuple[str, Tensor, Tensor]]:
    p, q = markov(1), markov(2)
    return [
        ("different", p, q),
        ("identical", p, p),
        ("zeros", markov(3, zeros=True), markov(4, zeros=True)),
        ("disjoint", torch.eye(V, dtype=torch.float64)[[0, 0, 1, 1]], torch.eye(V, dtype=torch.float64)[[2, 3, 2, 3]]),
        ("greedy", torch.eye(V, dtype=torch.float64)[[1, 2, 3, 0]], torch.eye(V, dtype=torch.float64)[[1, 0, 3, 0]]),
        ("greedy draft", p, torch.eye(V, dtype=torch.float64)[q.argmax(-1)]),
    ]


def round_law(p: Tensor, q: Tensor, start: int, place: str, payload: Payload) -> dict[tuple[int, ...], float]:
    """Law of the first LENGTH + 1 tokens: every draft, every outcome; texts that stop short go on by p.

    The probabilities of the pieces are those that the samplers use; their sum over paths is done here.
    """
    law: dict[tuple[int, ...], float] = dict.fromkeys(itertools.product(range(V), repeat=LENGTH + 1), 0.0)
    if place != "full":
        q = Exchange("server", payload).drafting(q)
    levels = target_levels(p, payload) / payload.total

    def go_on(text: tuple[int, ...], weight: float) -> None:
        """Spread a weight over the continuations of a text by the target's law."""
        if weight == 0.0:
            return
        if len(text) == LENGTH + 1:
            law[text] += weight
            return
        for token in range(V):
            go_on((*text, token), weight * float(p[text[-1] if text else start, token]))

    def step(text: tuple[int, ...], weight: float) -> None:
        if len(text) == LENGTH or weight == 0.0:
            go_on(text, weight)
            return
        before = text[-1] if text else start
        for x in range(V):
            drafted = weight * float(q[before, x])
            if drafted == 0.0:
                continue
            token = torch.tensor(x)
            if place == "device":
                accepted = float(device_acceptance(levels[before], q[before], token))
                own = 1.0 - float(levels[before].sum())
                received = levels[before] / levels[before].sum() if levels[before].sum() > 0 else levels[before]
                outcomes = [
                    (1.0 - own - accepted, residual(received, q[before])),
                    (own, left_out(p[before], levels[before])),
                ]
            else:
                accepted = float(ratio(at(p[before], token), at(q[before], token)))
                outcomes = [(1.0 - accepted, residual(p[before], q[before]))]
            step((*text, x), drafted * accepted)
            for chance, after in outcomes:
                for y in range(V):
                    if chance > 0.0:
                        go_on((*text, y), drafted * chance * float(after[y]))

    step((), 1.0)
    return law


@pytest.mark.parametrize("place", ["full", "server", "device"])
@pytest.mark.parametrize(("name", "p", "q"), languages(), ids=[name for name, _, _ in languages()])
@pytest.mark.parametrize("payload", [Payload(V, 16, V), Payload(2, 3, V)], ids=["whole", "truncated"])
def test_every_path_added_up_gives_the_targets_law(
    place: str, name: str, p: Tensor, q: Tensor, payload: Payload
) -> None:
    law = round_law(p, q, 0, place, payload)
    for text, weight in law.items():
        truth = math.prod(float(p[before, token]) for before, token in itertools.pairwise((0, *text)))
        assert weight == pytest.approx(truth, rel=EXACT, abs=EXACT), (name, text)


def sampled_round(p: Tensor, q: Tensor, place: str, payload: Payload, seed: int) -> list[tuple[int, ...]]:
    """Many rounds in one batch; texts that stop short go on by p."""
    own = [torch.Generator().manual_seed(seed + n) for n in range(DRAWS // ROUNDS)]
    texts = []
    exchange = None if place == "full" else Exchange(place, payload)  # type: ignore[arg-type]
    for _ in range(ROUNDS):
        drafted, verdict = played(p, q, torch.zeros(len(own), dtype=torch.int64), LENGTH, exchange, own)
        for row, kept in enumerate(verdict.accepted.tolist()):
            text = [*drafted[row, :kept].tolist(), int(verdict.token[row])]
            while len(text) < 2:
                text.append(int(draw(p[text[-1]][None], [own[row]])[0]))
            texts.append(tuple(text[:2]))
    return texts


@pytest.mark.parametrize("place", ["full", "server", "device"])
def test_samples_follow_the_targets_law(place: str) -> None:
    """Chi-square over pairs of tokens; seed 7, false alarm in 1e-4 of seeds."""
    p, q = markov(1), markov(2)
    texts = sampled_round(p, q, place, Payload(3, 4, V), seed=7)
    pairs = list(itertools.product(range(V), repeat=2))
    expected = [len(texts) * float(p[0, a] * p[a, b]) for a, b in pairs]
    assert min(expected) > 5
    assert chisquare([texts.count(pair) for pair in pairs], expected).pvalue > FALSE_ALARM


def test_a_biased_correction_would_be_caught() -> None:
    """The power of the test above: correcting from p in place of the residual fails it."""
    p, q = markov(1)[0], markov(2)[0]
    wrong = torch.minimum(p, q) + (1.0 - overlap(p, q)) * p
    statistic = DRAWS * float(((wrong - p) ** 2 / p).sum())
    assert statistic > 20 * chi2.isf(FALSE_ALARM, V * V - 1)


def test_acceptance_is_the_overlap() -> None:
    p, q = markov(5), markov(6)
    chance = sum(q[:, x] * ratio(p[:, x], q[:, x]) for x in range(V))
    torch.testing.assert_close(overlap(p, q), chance, rtol=EXACT, atol=EXACT)
    torch.testing.assert_close(overlap(p, q), 1.0 - 0.5 * (p - q).abs().sum(-1), rtol=EXACT, atol=EXACT)


def test_a_draft_that_takes_its_most_probable_token_says_so() -> None:
    """p = .6, .4 against q = .8, .2: drawn from q .8 is accepted, of the most probable token alone .6.

    Were the law of the latter given as q, .6/.8 of its tokens would be accepted and the texts follow .75, .25.
    """
    p, logits = torch.tensor([0.6, 0.4]), torch.tensor([0.8, 0.2]).log()
    drawn, greedy = SamplingRule().probabilities(logits), SamplingRule(0.0).probabilities(logits)
    assert [float(overlap(p, q)) for q in (drawn, greedy)] == pytest.approx([0.8, 0.6])
    for given, law in ((greedy, [0.6, 0.4]), (drawn, [0.75, 0.25])):
        accepted = ratio(p[0], given[0])
        found = accepted * torch.tensor([1.0, 0.0]) + (1.0 - accepted) * residual(p, given)
        assert found.tolist() == pytest.approx(law)


@pytest.mark.parametrize(
    ("temperatures", "alpha"),
    [((1.0, 1.0), 0.84530), ((0.7, 0.7), 0.85952), ((0.1, 0.1), 0.99995), ((0.7, 1.0), 0.79955), ((0.0, 0.0), 1.0)],
)
def test_acceptance_is_that_of_the_temperatures_of_both_models(temperatures: tuple[float, float], alpha: float) -> None:
    """Of target and draft: filters or temperatures of one model alone are another acceptance."""
    logits = torch.tensor([[2.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
    p, q = (SamplingRule(t).probabilities(row) for t, row in zip(temperatures, logits, strict=True))
    assert float(overlap(p, q)) == pytest.approx(alpha, abs=5e-6)


def test_half_precision_is_left_before_anything_is_drawn_or_compared() -> None:
    """One law of single precision serves the draw, the ratio and what is sent; no token of probability 0 is drawn."""
    logits = (4.0 * torch.randn(20, 300, generator=torch.Generator().manual_seed(5))).to(torch.bfloat16)
    q = SamplingRule(0.8, top_k=5).probabilities(logits)
    assert q.dtype == torch.float32
    torch.testing.assert_close(q, SamplingRule(0.8, top_k=5).probabilities(logits.float()), rtol=0.0, atol=0.0)
    for seed in range(50):
        assert bool((at(q, draw(q, generators(20, seed))) > 0.0).all())


def test_accepted_tokens_end_at_the_first_rejection() -> None:
    """One after a rejected one does not count, and each row has a token of the target's besides: 2 and 4, not 5."""
    assert leading(torch.tensor([[True, False, True], [True, True, True]])).tolist() == [1, 3]
    one, none = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    target = torch.stack([torch.stack([one, none, one, one]), torch.stack([one] * 4)])
    verdict = verify(target, one.expand(2, 3, 2), torch.zeros(2, 3, dtype=torch.int64), [3, 3], generators(2))
    assert (verdict.accepted.tolist(), verdict.token.tolist()) == ([1, 3], [1, 0])


def test_laws_that_are_equal_but_for_round_off_leave_no_empty_residual() -> None:
    half, hair = torch.tensor([0.5, 0.5]), torch.tensor([0.5 + 1e-17, 0.5 - 1e-17], dtype=torch.float64)
    assert residual(half, half).tolist() == [0.5, 0.5]
    assert residual(half.double(), hair).tolist() == [0.5, 0.5]
    nearly = torch.tensor([0.5 + 1e-16, 0.5 - 1e-16], dtype=torch.float64)
    assert residual(half.double(), nearly).tolist() == [0.0, 1.0]
    assert float(overlap(half, half)) == 1.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_residual_is_a_law_whatever_it_is_given(dtype: torch.dtype) -> None:
    tiny = torch.finfo(dtype).tiny
    rows = torch.tensor(
        [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 - 1e-7, 1e-7, 0.0], [tiny, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3]], dtype=dtype
    )
    for p, q in itertools.product(rows, rows):
        law = residual(p, q)
        assert bool(torch.isfinite(law).all())
        assert float(law.sum()) == pytest.approx(1.0, abs=4 * torch.finfo(dtype).eps)


def test_a_batch_of_ragged_drafts_equals_its_rows_one_by_one() -> None:
    torch.manual_seed(3)
    lengths = [0, 1, 5, 3, 5, 2]
    target, draft = torch.rand(6, 6, 50).softmax(-1), torch.rand(6, 5, 50).softmax(-1)
    tokens = torch.randint(0, 50, (6, 5))
    together = verify(target, draft, tokens, lengths, generators(6))
    for row, length in enumerate(lengths):
        alone = verify(
            target[row : row + 1, : length + 1],
            draft[row : row + 1, :length],
            tokens[row : row + 1, :length],
            [length],
            generators(6)[row : row + 1],
        )
        assert (int(alone.accepted[0]), int(alone.token[0])) == (int(together.accepted[row]), int(together.token[row]))


def test_identical_laws_accept_everything_and_disjoint_ones_nothing() -> None:
    p = torch.rand(8, 4, 30).softmax(-1)
    tokens = torch.randint(0, 30, (8, 3))
    assert verify(p, p[:, :3], tokens, [3] * 8, generators(8)).accepted.tolist() == [3] * 8
    left, right = torch.zeros(8, 4, 30), torch.zeros(8, 3, 30)
    left[..., :15], right[..., 15:] = 1 / 15, 1 / 15
    verdict = verify(left, right, torch.randint(15, 30, (8, 3)), [3] * 8, generators(8))
    assert verdict.accepted.tolist() == [0] * 8
    assert max(verdict.token.tolist()) < 15


def test_the_text_stops_at_its_end() -> None:
    assert through_end([5, 2, 7], frozenset({2})) == [5, 2]
    assert through_end([5, 7], frozenset({2})) == [5, 7]


def test_rules_agree_with_those_of_transformers() -> None:
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    torch.manual_seed(0)
    logits = 4.0 * torch.randn(40, 300)
    for temperature, top_k, top_p in itertools.product([0.5, 1.3], [None, 1, 20], [None, 0.3, 0.95]):
        ours = SamplingRule(temperature, top_k, top_p).probabilities(logits)
        theirs = TemperatureLogitsWarper(temperature)(None, logits)
        if top_k is not None:
            theirs = TopKLogitsWarper(top_k)(None, theirs)
        if top_p is not None:
            theirs = TopPLogitsWarper(top_p)(None, theirs)
        torch.testing.assert_close(ours, theirs.softmax(-1))


def test_temperature_0_is_the_most_probable_token() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0]])
    assert SamplingRule(0.0).probabilities(logits).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    "given", [{"temperature": -1.0}, {"temperature": float("nan")}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.5}]
)
def test_a_rule_that_means_nothing_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        SamplingRule(**given)  # type: ignore[arg-type]
