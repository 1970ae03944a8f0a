"""The text of README, DESIGN and the like as that of pages, so that nothing is written twice."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^## (?:(?P<number>\d+)\. )?(?P<title>.*)$", flags=re.MULTILINE)
SECTIONS = re.compile(r"\bsections? \d+(?:(?:, | and )\d+)*")
CODE = re.compile(r"(`+[^`]*`+|\$+[^$]+\$+)")
INDEX = re.compile(r"(?<!\w)(?P<base>[^\W\d_]{1,4}'?)_(?P<index>\{[^{}]+\}|\w+)")
POWER = re.compile(r"\^(?:[({\[](?P<group>[^(){}\[\]]+)[)}\]]|(?P<plain>−?\w+))")
TOLD_FIRST = ("own_formula", "method_against_baselines", "sizing", "schedule_from_log", "price_of_fairness")
"""Examples that open the gallery; the others follow by name."""


def sections(text: str) -> Iterator[tuple[str, str, str]]:
    """Number (or nothing), title and text of each section under a heading of second rank."""
    found = list(HEADING.finditer(text))
    ends = [each.start() for each in found[1:]] + [len(text)]
    for each, end in zip(found, ends, strict=True):
        yield each["number"] or "", each["title"], text[each.end() : end].strip("\n") + "\n"


def page_of_section(number: str) -> str:
    """Where section `number` of DESIGN.md is a page."""
    return f"/mathematics/section-{int(number):02d}.md"


def _linked_numbers(match: re.Match[str]) -> str:
    return re.sub(r"\d+", lambda number: f"[{number[0]}]({page_of_section(number[0])})", match[0])


def with_links(text: str, to_root: str) -> str:
    """The text of a file of the repository with its links leading to pages; `to_root` is the way from page to root."""
    text = re.sub(r"\[DESIGN\.md\]\(DESIGN\.md\), (sections? )", r"[the mathematics](/mathematics/index.md), \1", text)
    text = re.sub(r"(?<![`/\[])\bDESIGN\.md, (sections? )", r"[the mathematics](/mathematics/index.md), \1", text)
    text = text.replace("](DESIGN.md)", "](/mathematics/index.md)").replace("[DESIGN.md]", "[The mathematics]")
    text = text.replace("[examples/](examples/), the gallery of `make docs`", "[the gallery](/gallery/index.rst)")
    text = re.sub(r"\]\((reports/sample/figures/[^)]+)\)", rf"]({to_root}../\1)", text)
    text = re.sub(r"\[([^]]+)\]\(reports/sample/report\.\w+\)", r"`\1`", text)
    return _outside_code(lambda prose: SECTIONS.sub(_linked_numbers, prose), text)


def with_formulas(text: str) -> str:
    """The text with indices below and powers above the line.

    >>> print(with_formulas("Σ_k E_k(L_k) with `draft_s_per_token` and α^(L+1)"))
    Σ<sub>k</sub> E<sub>k</sub>(L<sub>k</sub>) with `draft_s_per_token` and α<sup>L+1</sup>
    """

    def formula(prose: str) -> str:
        prose = POWER.sub(lambda found: f"<sup>{found['group'] or found['plain']}</sup>", prose)
        return INDEX.sub(lambda found: f"{found['base']}<sub>{found['index'].strip('{}')}</sub>", prose)

    return _outside_code(formula, text)


def _outside_code(change: Callable[[str], str], text: str) -> str:
    """Change what is neither a block of code nor between backticks."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        code = fenced or line.startswith("    ")
        parts = [line] if code else CODE.split(line)
        lines.append("".join(part if code or part.startswith(("`", "$")) else change(part) for part in parts))
    return "\n".join(lines)


def write_mathematics(folder: Path) -> None:
    """A page for each section of DESIGN.md, and one that lists them."""
    text = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
    opening = text.partition("\n")[2].partition("\n## ")[0].strip()
    names = []
    for number, title, content in sections(text):
        page = page_of_section(number)
        names.append(Path(page).stem)
        _write(folder / Path(page).name, f"# {number}. {title}\n\n{with_formulas(with_links(content, '../'))}")
    contents = "\n".join(names)
    _write(folder / "index.md", f"# The mathematics\n\n{opening}\n\n```{{toctree}}\n:maxdepth: 1\n\n{contents}\n```\n")
    for stale in set(folder.glob("*.md")) - {folder / f"{name}.md" for name in (*names, "index")}:
        stale.unlink()


def copy_examples(folder: Path) -> None:
    """The examples where they may leave their pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "examples").iterdir():
        if file.suffix in (".py", ".rst"):
            _write(folder / file.name, file.read_text(encoding="utf-8"))
    sample = folder.parent / "extra" / "sample"
    sample.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "reports" / "sample" / "report.html", sample)


def gallery_place(file: str) -> str:
    """What the gallery is sorted by."""
    name = Path(file).stem.removeprefix("plot_")
    return f"{TOLD_FIRST.index(name) if name in TOLD_FIRST else len(TOLD_FIRST):02d} {name}"


def _write(path: Path, text: str) -> None:
    """Write what differs alone, so that a page that is the same is not built again."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
