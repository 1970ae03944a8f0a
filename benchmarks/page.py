"""Every benchmark's ratios on one page, with all that was printed below: `make benchmarks`, or single files by name.

A time depends on the machine; a ratio within one run hardly does. The page is written anew after each benchmark, so
that an interrupt leaves what was measured. Run: python benchmarks/page.py [bench_many.py ...]
"""

import platform
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE = HERE / "out" / "ratios.md"
ROW = re.compile(r"^(?P<name>.{72}) *(?P<median>\S+) +(?P<spread>\S+ to \S+) +\S+ +\S+  times(?:  \((?P<asked>.*)\))?$")
HEAD = re.compile(r"^(?P<title>.*?) +median +quartiles +min +max$")


class Ratio(NamedTuple):
    """A line of a table whose unit is times, under the title of what it is about."""

    about: str
    name: str
    median: str
    spread: str
    asked: str


def ratios_of(printed: str) -> list[Ratio]:
    """The ratios among what a benchmark printed; a table called `ratio` or `time` is about the one before it."""
    found, about = [], ""
    for line in printed.splitlines():
        if head := HEAD.match(line):
            about = about if head["title"] in ("ratio", "time") else head["title"]
        elif row := ROW.match(line):
            found.append(Ratio(about, row["name"].strip(), row["median"], row["spread"], row["asked"] or ""))
    return found


def page(printed: dict[str, str]) -> str:
    """The page of what each benchmark printed."""
    about = f"msopt {version('msopt')}, Python {platform.python_version()}, {platform.machine()}, {date.today()}"
    lines = ["# Benchmarks", "", f"{about}. Medians and quartiles over the rounds of one run; CPU seconds unless told."]
    lines += ["", "| benchmark | setting | ratio | median | quartiles | asked |", "|---|---|---|---:|---:|---|"]
    for name, text in printed.items():
        lines += [f"| {name} | {' | '.join(ratio)} |" for ratio in ratios_of(text)]
    for name, text in printed.items():
        lines += ["", f"<details><summary>{name}</summary>", "", "```text", text.rstrip(), "```", "</details>"]
    return "\n".join(lines) + "\n"


def main() -> None:
    scripts = [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("bench_*.py"))
    PAGE.parent.mkdir(exist_ok=True)
    printed = {}
    for script in scripts:
        print(script.stem, flush=True)
        run = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=True)
        printed[script.stem.removeprefix("bench_")] = run.stdout
        PAGE.write_text(page(printed), encoding="utf-8")
    print(f"The ratios are in {PAGE}")


if __name__ == "__main__":
    main()
