"""Every table of a report as LaTeX reads it; collected where there is a LaTeX."""

import re
import subprocess
from pathlib import Path

import pandas as pd

from reports.shared.rows import rows_of
from reports.shared.table_markup import latex_table
from reports.shared.text_table import Column, Table

WIDEST_PT = 12.0
"""By which a table may be wider than a line of an article; its widths are reckoned from counts of letters."""
TEXTS = (
    "[UD] Algorithm 1",
    "*starred",
    "",
    "50 % of a_b & c # d ~ e ^ f \\ g {h} $i$",
    "<a|b> `c` --method \"d\" 'e' ``f''",
    "α θ τ φ λ Σ µ ± − – — → ≥ ≤ × ² … L̃ “quoted” ‘so’",
    "Größe, naïve, Łódź, żółć, Đ, þ, ſ",
    "中文, кириллица, 🙂, ẞ, ﬁ",
)


def test_every_table_compiles(report: Path, tmp_path: Path) -> None:
    """All in one document, among them one of texts that mean something to LaTeX, each at the start of a row."""
    odd = pd.DataFrame({"first": TEXTS, "then": TEXTS, "long": [text * 9 for text in TEXTS], "number": "-1.0"})
    columns = [Column(name, f"[{name}]", numeric=name == "number") for name in odd]
    (tmp_path / "odd.tex").write_text(latex_table(Table.of("odd: 100 %", rows_of(odd), columns)), encoding="utf-8")
    tables = [*sorted((report / "latex").glob("*.tex")), tmp_path / "odd.tex"]
    assert len(tables) > 10
    packages = {name for table in tables for name in re.findall(r"% \\usepackage(\{.*\})", table.read_text("utf-8"))}
    lines = [r"\documentclass{article}", *(rf"\usepackage{name}" for name in packages), r"\begin{document}"]
    lines += [r"\setlength{\parindent}{0pt}", *(rf"\input{{{table}}}\par" for table in tables)]
    (tmp_path / "all.tex").write_text("\n".join([*lines, r"\end{document}", ""]), encoding="utf-8")
    line = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"]
    done = subprocess.run(line, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 0
    log = (tmp_path / "all.log").read_text(encoding="latin-1").split("odd.tex")[0]
    wider = [float(points) for points in re.findall(r"Overfull \\hbox \((.*?)pt", log)]
    assert max(wider, default=0.0) < WIDEST_PT
