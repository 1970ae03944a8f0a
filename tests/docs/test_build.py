"""The site is built from an empty folder without a warning; the gallery's examples are run by their own test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = ("_build", "gallery", "mathematics", "pictures", "__pycache__")
READ = ("README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples", "reports")


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns(*GENERATED))
    for name in READ:
        (tmp_path / name).symlink_to(ROOT / name)
    sphinx = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0", "-b", "dummy")
    # Deprecations are of Sphinx's own libraries.
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT)}
    built = subprocess.run(
        [*sphinx, docs, docs / "_build" / "dummy"], env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    sections = (ROOT / "DESIGN.md").read_text(encoding="utf-8").count("\n## ")
    assert len(list((docs / "mathematics").glob("section-*.md"))) == sections >= 15
