"""One hypothesis profile for all tests: the same examples everywhere, no wall clock; interrupts as Python has them.

And one thread for every numeric library: threads that wait for one another in a spin cost several times what they bring
while other tests run. The libraries, and the processes that tests start, read the number when they are loaded.
"""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

os.environ["OMP_NUM_THREADS"] = "1"

settings.register_profile(
    "msopt",
    derandomize=True,
    deadline=None,
    max_examples=50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("msopt")

ON_ONE_REPORT = ("tests/reports/page/", "tests/reports/shared/test_ending.py")
"""What needs the made-up report, which one process makes while the others go on."""


class OneReport(LoadFileScheduling):
    """The tests of one file run in one process, and so do those of one report."""

    def _split_scope(self, nodeid: str) -> str:
        return ON_ONE_REPORT[0] if nodeid.startswith(ON_ONE_REPORT) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneReport:
    return OneReport(config, log)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT as a program has it: workers that run tests side by side ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], None]]:
    """From the call on no file grows beyond so many bytes, as on a disk that is full by then."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(left: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (left, limits[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)
