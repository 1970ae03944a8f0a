"""One hypothesis profile for all tests: the same examples everywhere, no wall clock; interrupts as Python has them."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "msopt",
    derandomize=True,
    deadline=None,
    max_examples=50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("msopt")


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT as a program has it: workers that run tests side by side ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
