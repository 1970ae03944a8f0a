"""Messages hold what they say, to the bit, and levels keep both laws exact."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from msopt import ParameterError
from verification.exchange import Exchange
from verification.messages import (
    Payload,
    distribution_message,
    draft_levels,
    pack,
    read_distribution,
    target_levels,
    unpack,
)
from verification.sampling import draw, residual, verify


@given(st.integers(2, 200_000), st.integers(1, 24), st.data())
def test_packing_is_reversible_and_counts_its_bits(vocabulary: int, bits: int, data: st.DataObject) -> None:
    payload = Payload(1, bits, vocabulary)
    tokens = data.draw(st.lists(st.integers(0, vocabulary - 1), max_size=20))
    levels = [data.draw(st.integers(1, 2**bits)) for _ in tokens]
    message = pack(tokens, levels, payload)
    assert message.bits == len(tokens) * payload.token_bits
    assert len(message.content) == -(-message.bits // 8)
    back = unpack(message, payload)
    assert (back[0].tolist(), back[1].tolist()) == (tokens, levels)


def test_the_papers_payloads() -> None:
    assert Payload(1024, 16, 32_000).distribution_bits == 31_744  # [MS], Llama-2
    assert Payload(1024, 16, 151_665).distribution_bits == 34_816  # [UD]
    assert Payload(1024, 16, 151_665).token_bits == 34


def laws(seed: int, count: int = 20, vocabulary: int = 200) -> torch.Tensor:
    return (5.0 * torch.randn(count, vocabulary, generator=torch.Generator().manual_seed(seed))).softmax(-1)


@pytest.mark.parametrize(("kept", "bits"), [(200, 24), (50, 16), (50, 4), (1, 1)])
def test_levels(kept: int, bits: int) -> None:
    payload = Payload(kept, bits, 200)
    p = laws(0).double()
    drafted, sent = draft_levels(p, payload), target_levels(p, payload)
    assert drafted.sum(-1).tolist() == [2**bits] * 20
    assert bool((drafted == drafted.round()).all())
    assert bool((sent / payload.total <= p).all())
    assert int((drafted > 0).sum(-1).max()) <= kept
    assert int((sent > 0).sum(-1).max()) <= kept
    top = p.topk(kept).values.sum(-1, keepdim=True)
    held = p >= p.topk(kept).values[:, -1:]
    assert float(((drafted / payload.total - p / top).abs() * held).max()) <= 2.0**-bits * (1 + 1e-4)


def test_a_law_on_one_token_is_sent_whole() -> None:
    payload = Payload(3, 8, 5)
    certain = torch.tensor([[0.0, 0.0, 1.0, 0.0, 0.0]])
    for levels in (draft_levels(certain, payload), target_levels(certain, payload)):
        message = distribution_message(levels[0], payload)
        assert message.bits == payload.token_bits
        assert read_distribution(message, payload, certain).tolist() == [0, 0, 256, 0, 0]


@pytest.mark.parametrize("place", ["server", "device"])
def test_messages_of_a_batch(place: str) -> None:
    payload = Payload(30, 12, 200)
    exchange = Exchange(place, payload)  # type: ignore[arg-type]
    lengths = [4, 0, 2, 4, 3]
    own = [torch.Generator().manual_seed(n) for n in range(5)]
    target = laws(1, 25).reshape(5, 5, 200)
    draft = exchange.drafting(laws(2, 20).reshape(5, 4, 200))
    tokens = torch.stack([draw(draft[:, place], own) for place in range(4)], dim=1)
    found = exchange.decide(target, draft, tokens, lengths, own)
    assert [message.bits for message in found.drafts] == [length * payload.token_bits for length in lengths]
    for row, (kept, length) in enumerate(zip(found.accepted.tolist(), lengths, strict=True)):
        message = found.distributions[row]
        if kept == length:
            assert message is None
        elif message is not None:
            assert message.bits <= payload.distribution_bits
            assert message.bits == message.entries * (payload.index_bits + payload.level_bits)
    assert any(found.distributions)


def test_correction_at_the_server_is_verification_with_the_levels() -> None:
    """What the messages hold is enough: the same tokens as with both laws at hand, from the same generators."""
    payload = Payload(30, 12, 200)
    exchange = Exchange("server", payload)
    target, draft = laws(1, 50).reshape(10, 5, 200), exchange.drafting(laws(2, 40).reshape(10, 4, 200))
    lengths = [4, 3, 2, 1, 0, 4, 4, 4, 4, 4]
    tokens = torch.stack([draw(draft[:, n], [torch.Generator().manual_seed(n)] * 10) for n in range(4)], dim=1)

    def own() -> list[torch.Generator]:
        return [torch.Generator().manual_seed(n) for n in range(10)]

    direct = verify(target, draft, tokens, lengths, own())
    found = exchange.decide(target, draft, tokens, lengths, own())
    assert found.accepted.tolist() == direct.accepted.tolist()
    assert found.token.tolist() == direct.token.tolist()


def test_the_device_corrects_from_what_it_was_sent() -> None:
    """Levels of all the mass: the mixture has no second part, and the token is the residual's."""
    payload = Payload(4, 2, 4)
    target = torch.tensor([[[0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.25, 0.25]]])
    draft = torch.tensor([[[0.0, 0.0, 0.0, 1.0]]])
    law = residual(target[0, 0], draft[0, 0])
    seen = set()
    for seed in range(30):
        found = Exchange("device", payload).decide(
            target, draft, torch.tensor([[3]]), [1], [torch.Generator().manual_seed(seed)]
        )
        assert found.accepted.tolist() == [0]
        assert found.distributions[0] is not None
        seen.add(int(found.token[0]))
    assert seen == {x for x in range(4) if law[x] > 0}


@pytest.mark.parametrize(("kept", "bits"), [(0, 8), (11, 8), (5, 0), (5, 25)])
def test_a_payload_that_means_nothing_is_refused(kept: int, bits: int) -> None:
    with pytest.raises(ParameterError, match="allowed"):
        Payload(kept, bits, 10)
