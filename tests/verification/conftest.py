"""SmolLM2 is loaded once for all tests, and its ladder shares the weights."""

from collections.abc import Iterator

import pytest
import torch

from verification.language_model import EMBEDDED, LanguageModel, load_model
from verification.ladder import shortened
from verification.pairs import Pair, make_pair


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for one another in a spin cost more than they bring while other tests run."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def smollm2() -> LanguageModel:
    return load_model(EMBEDDED)


@pytest.fixture(scope="session")
def pair(smollm2: LanguageModel) -> Pair:
    return make_pair(shortened(smollm2, 4), smollm2)
