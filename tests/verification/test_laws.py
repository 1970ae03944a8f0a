"""What a model gives is a law or an error: NaN and infinity are never accepted; tokens that the draft lacks stay."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from msopt import ParameterError
from reports.cli.app import main
from tests.verification.devices import generators
from tests.verification.tiny import LETTERS, write_model
from verification.estimates import PromptRun
from verification.exchange import Exchange
from verification.language_model import LanguageModel, load_model
from verification.messages import Payload
from verification.pairs import Pair, make_pair
from verification.partial import Partial
from verification.rounds import Drafted, Session, generate
from verification.sampling import SamplingRule, draw, overlap, ratio, residual, verify
from verification.text_pass import read_text

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def more_tokens(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The target has four tokens behind the draft's last; the draft's padding has a place for the first of them."""
    root = tmp_path_factory.mktemp("more")
    draft = load_model(write_model(root / "draft", seed=1, padding=1, layers=2))
    return make_pair(draft, load_model(write_model(root / "target", seed=2, letters=LETTERS + "@#$&")))


def steered(model: LanguageModel, logits: list[float]) -> LanguageModel:
    """The model with the same logits after every text."""

    class Steered(torch.nn.Module):
        def forward(self, state: Tensor) -> Tensor:
            return torch.tensor(logits).expand(*state.shape[:-1], -1)

    network = LlamaForCausalLM(model.config)
    network.lm_head = Steered()
    return replace(model, network=network.eval())


def test_real_tokens_behind_the_drafts_last_keep_their_mass(more_tokens: Pair) -> None:
    """p = .4, .3, .1, .1, .05, .05 against q = .5, .5: accepted is .4 + .3, and a rejection is corrected by the rest.

    Four of p's tokens are behind the draft's last, where q is 0; cut to the draft's tokens p would accept .778.
    """
    behind = len(LETTERS) + 2
    p, q = torch.full((behind + 4,), -INF), torch.full((behind + 1,), -INF)
    p[[5, 6]], p[behind:] = torch.tensor([0.4, 0.3]).log(), torch.tensor([0.1, 0.1, 0.05, 0.05]).log()
    q[[5, 6]], q[behind] = torch.tensor([0.5, 0.5]).log(), 30.0  # its padding is no token, whatever mass it has
    pair = make_pair(steered(more_tokens.draft, q.tolist()), steered(more_tokens.target, p.tolist()))
    session = Session(pair, [[7, 8]] * 400, SamplingRule(), generators(400), record=True)
    done = [drafted for _ in range(5) for drafted in session.round([2] * 400)]
    every = [value for drafted in done for value in drafted.overlap]
    assert (min(every), max(every)) == pytest.approx((0.7, 0.7), rel=1e-6)
    visited, accepted = sum(d.visited for d in done), sum(d.accepted for d in done)
    assert accepted / visited == pytest.approx(0.7, abs=4.0 * (0.7 * 0.3 / visited) ** 0.5)  # 6e-5 false alarms
    corrections = torch.tensor([text[-1] for text in session.texts])
    assert set(corrections.tolist()) - {5, 6} == set(range(behind, behind + 4))
    laws = read_text(pair, [7], session.texts[0], SamplingRule())
    assert laws.overlap == pytest.approx([0.7] * len(session.texts[0]), rel=1e-6)
    rest = residual(laws.target[0], laws.draft[0])
    assert rest[behind:].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 6], rel=1e-6)
    assert float(rest[:behind].sum()) == 0.0


def test_a_draft_reads_on_after_tokens_that_it_lacks(more_tokens: Pair) -> None:
    """As a zero embedding where it has no place for them, which is what padding an embedding gives."""
    known = len(LETTERS) + 2
    assert (more_tokens.entries, more_tokens.shared) == (known + 4, known)
    text = [5, known + 3, 6, known]
    found = more_tokens.decoders(1)[0].read([text], [0], [2])[0]
    network = more_tokens.draft.network
    embedded = network.get_input_embeddings()(torch.tensor([[5, 0, 6, known]]))
    embedded[0, 1] = 0.0
    alone = network(inputs_embeds=embedded).logits[0, -2:]
    torch.testing.assert_close(found[:, :known], alone[:, :known], rtol=1e-4, atol=1e-4)
    assert bool((found[:, known:] == -INF).all())
    own = Session(
        more_tokens, [text] * 3, SamplingRule(), generators(3), exchange=Exchange("device", Payload(33, 8, 36))
    )
    generate(own, [3] * 3, 30)
    assert max(map(max, own.texts)) >= known


@pytest.mark.parametrize("role", ["draft", "target"])
@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (7, NAN, "1 are NaN and 0 infinite"),
        (7, INF, "0 are NaN and 1 infinite"),
        (-1, NAN, "1 are NaN"),
        (slice(None), -INF, "no token is left"),
        (slice(None, 32), -INF, "no token is left"),
    ],
)
def test_logits_that_are_no_law_name_the_model_and_the_place(
    role: str, place: int | slice, value: float, said: str, tiny: Pair
) -> None:
    """A whole row, one column, one column of the padding, and every token but the padding."""
    model = getattr(tiny, role)
    logits = torch.zeros(model.entries)
    logits[place] = value
    pair = replace(tiny, **{role: steered(model, logits.tolist())})  # it fails while it drafts, not when it is paired
    session = Session(pair, [[5, 6, 7], [8, 9]], SamplingRule(), generators(2))
    with pytest.raises(ParameterError, match=rf'{role} "{model.name}" gives no law after 3 tokens of text 1: .*{said}'):
        session.round([1, 1])


def test_a_measurement_of_a_model_that_overflows_is_refused(
    tmp_path: Path, tiny_folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Weights that single precision holds and half precision does not: no acceptance of 1, no profile, no rest."""
    draft, target = tiny_folders
    network = LlamaForCausalLM.from_pretrained(draft)
    with torch.no_grad():
        for layer in network.model.layers:
            layer.mlp.down_proj.weight *= 3e4
            layer.mlp.up_proj.weight *= 1e2
    large = Path(write_model(tmp_path / "large", seed=1, padding=3, layers=2))
    network.save_pretrained(large)
    capsys.readouterr()
    small = ["--prompts", "2", "--tokens", "6", "--draft-length", "2", "--repeats", "1", "--batches", "1,2"]
    small += ["--task", "code", "--output", str(tmp_path / "x.json")]
    assert main(["measure", "--draft", str(large), "--target", target, *small, "--dtype", "float16"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert 'draft "large" gives no law after ' in said.err
    assert "float16 ends at 65504" in said.err
    assert said.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["large"]
    assert main(["measure", "--draft", str(large), "--target", target, *small]) == 0


@pytest.mark.parametrize("temperature", [1e-320, 1e-40, 1e-3, 1.0, 1e300])
def test_no_temperature_overflows(temperature: float) -> None:
    logits = torch.tensor([[1e30, 1.0, 3e38, -INF], [1.0, 2.0, 3.0, -INF]])
    found = SamplingRule(temperature, top_k=3, top_p=0.999).probabilities(logits)
    assert found.sum(-1).tolist() == pytest.approx([1.0, 1.0], rel=1e-6)
    assert found[:, 3].tolist() == [0.0, 0.0]
    expected = [1 / 3] * 3 if temperature > 1e9 else [0.0, 0.0, 1.0] if temperature < 0.1 else None
    assert expected is None or found[1, :3].tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("row", [[NAN, 0.0], [0.0, INF], [-INF, -INF]])
def test_a_rule_makes_no_law_of_what_is_none(row: list[float], temperature: float) -> None:
    with pytest.raises(ParameterError, match="1 of 2 rows of logits give no law"):
        SamplingRule(temperature).probabilities(torch.tensor([[0.0, 0.0], row]))


@pytest.mark.parametrize("place", ["full", "server", "device"])
@pytest.mark.parametrize("row", [[0.5, NAN, 0.5], [0.5, 0.6, 0.2], [0.2, 0.2, 0.2], [1.5, -0.5, 0.0], [0.0] * 3])
@pytest.mark.parametrize("whose", ["target", "draft"])
def test_probabilities_that_are_none_are_not_verified(whose: str, row: list[float], place: str) -> None:
    laws = {"target": torch.full((2, 3, 3), 1 / 3), "draft": torch.full((2, 2, 3), 1 / 3)}
    laws[whose][1, 1] = torch.tensor(row)
    decide = verify if place == "full" else Exchange(place, Payload(3, 8, 3)).decide  # type: ignore[arg-type]
    tokens = torch.zeros(2, 2, dtype=torch.int64)
    with pytest.raises(ParameterError, match=f"the {whose}'s probabilities of row 1, position 1 are no law"):
        decide(laws["target"], laws["draft"], tokens, [2, 2], generators(2))
    if whose == "draft":
        decide(laws["target"], laws["draft"], tokens, [2, 1], generators(2))  # beyond the row's length


@pytest.mark.parametrize("row", [[NAN, 1.0], [INF, 1.0], [-1.0, 3.0], [0.0, 0.0]])
def test_nothing_is_drawn_from_weights_that_are_none(row: list[float]) -> None:
    with pytest.raises(ParameterError, match="weights to draw from"):
        draw(torch.tensor([[1.0, 2.0], row]), generators(2))


def test_a_nan_is_no_chance_and_no_overlap_of_1() -> None:
    nan = torch.tensor([NAN, 0.5])
    assert bool(ratio(nan, nan.flip(0)).isnan().all())
    assert bool(overlap(nan, nan).isnan())
    with pytest.raises(ParameterError, match=r"overlap\[1\] = nan is no probability"):
        Drafted(0, 2, 1, (0.5, NAN), (0.5, 0.5))
    with pytest.raises(ParameterError, match=r"ratio\[0\] = 1.5"):
        Drafted(0, 2, 1, (0.5, 0.5), (1.5, 0.5))
    with pytest.raises(ParameterError, match="overlap holds 1 values of 2"):
        Drafted(0, 2, 1, (0.5,), (0.5, 0.5))
    with pytest.raises(ParameterError, match="3 of 2 drafted"):
        Drafted(0, 2, 3)
    with pytest.raises(ParameterError, match=r"text_overlap\[0\] = nan"):
        PromptRun((), (NAN,), ())
    with pytest.raises(ParameterError, match="nan accepted of 2"):
        PromptRun((), (), ((2.0, NAN),))


@pytest.mark.parametrize("value", [NAN, INF])
def test_what_an_interrupt_left_holds_no_nan(value: float, tmp_path: Path) -> None:
    output = tmp_path / "x.json"
    with pytest.raises(ParameterError, match="not finite"):
        Partial.beside(output, {}).add("step", [0.5, value])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.json.partial").write_text(json.dumps({"settings": {}, "done": {"step": [value]}}))
    with pytest.raises(ParameterError, match="remove it to begin"):
        Partial.beside(output, {})
