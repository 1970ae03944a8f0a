"""Models are loaded once for all tests; SmolLM2's ladder shares its weights."""

import pytest

from tests.verification.tiny import write_model
from verification.ladder import shortened
from verification.language_model import EMBEDDED, LanguageModel, load_model
from verification.pairs import Pair, load_pair, make_pair


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Draft and target of one tokenizer; the target's vocabulary has more padding."""
    root = tmp_path_factory.mktemp("tiny")
    return (
        write_model(root / "draft", seed=1, padding=3, layers=2),
        write_model(root / "target", seed=2, padding=7, layers=4),
    )


@pytest.fixture(scope="session")
def tiny(tiny_folders: tuple[str, str]) -> Pair:
    draft, target = tiny_folders
    return load_pair(draft, target)


@pytest.fixture(scope="session")
def smollm2() -> LanguageModel:
    return load_model(EMBEDDED)


@pytest.fixture(scope="session")
def pair(smollm2: LanguageModel) -> Pair:
    return make_pair(shortened(smollm2, 4), smollm2)
