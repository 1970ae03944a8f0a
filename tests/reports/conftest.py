"""The command line as a fixture, and a report that many tests look at."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from msopt import bundled
from msopt.files.profile_json import write_profile
from reports.page.page import write_report
from reports.plots.style import RC
from reports.shared.record import Record
from tests.profiles import profile, verification
from tests.reports.browser import chromium
from tests.reports.command import Command
from tests.reports.made_up import made_up_profile, made_up_record

# What needs a browser or a LaTeX is no test where there is none; what can be known without is in test_page.
collect_ignore = [
    *([] if chromium() else ["test_browser.py"]),
    *([] if shutil.which("pdflatex") else ["test_latex.py"]),
]


@pytest.fixture
def msopt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)


@pytest.fixture(scope="session", autouse=True)
def plain_glyphs() -> Iterator[None]:
    """PDF files with plain glyphs: cutting TrueType fonts down takes five times as long as all else in a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RC, "pdf.fonttype", 3)
        yield


@pytest.fixture(scope="session")
def made_up() -> Record:
    """A record whose tables are made up but for the answer."""
    return made_up_record([(bundled.default, bundled.path(bundled.default))], [made_up_profile()])


@pytest.fixture(scope="session")
def report(made_up: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report on it."""
    return write_report(made_up, tmp_path_factory.mktemp("report")).parent


@pytest.fixture
def measured(msopt: Command) -> Path:
    """The file of a profile with times at the server, of a draft that vLLM could load."""
    whole = profile().draft.model_copy(update={"layers_left_out": ()})
    write_profile(profile(draft=whole, verification=verification(0.02, 0.0005, 0.002)), msopt.folder / "p.json")
    return msopt.folder / "p.json"
