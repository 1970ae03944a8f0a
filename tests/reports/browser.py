"""A page in headless Chromium at a given width: what a reader's browser makes of it, measured by a script inside it."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT_S = 120
HEIGHT = 900

# A window narrower than 500 pixels does not exist, so the page stands in a frame of the width asked for.
_FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
<iframe src="{page}" style="border:0;width:{width}px;height:{height}px"></iframe><pre id="found"></pre>
<script>addEventListener("message", event => document.getElementById("found").textContent = event.data);</script>"""

_PROBE = r"""
const height = () => document.documentElement.scrollHeight, folded = height();
for (const part of document.querySelectorAll("details")) part.open = true;
const light = text => {
  const [r, g, b] = text.match(/[\d.]+/g).map(value => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = element => {
  for (let one = element; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  }
};
const contrast = element => {
  const [low, high] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const pale = [...document.querySelectorAll("h1, h2, h3, h4, p, li, td, th, a:not(.anchor), code, summary, caption")]
  .filter(element => element.textContent.trim() && contrast(element) < 4.5)
  .map(element => element.outerHTML.slice(0, 90));
const box = element => element.getBoundingClientRect();
const inside = (a, b, room) => a.left >= b.left - room && a.right <= b.right + room && a.top >= b.top - room
  && a.bottom <= b.bottom + room;
const shared = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left))
  * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
const size = a => a.width * a.height;
const figure = svg => {
  const frame = box(svg), texts = [...svg.querySelectorAll("text")].filter(text => text.textContent.trim());
  const boxes = texts.map(text => [text.textContent.trim(), box(text)]);
  const over = [];
  boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    if (shared(a, b) > 0.2 * Math.min(size(a), size(b))) over.push(one + " | " + other);
  }));
  return {
    label: svg.getAttribute("aria-label"), width: frame.width, height: frame.height, texts: texts.length,
    marks: [...svg.querySelectorAll("path, use, rect")].filter(mark => !mark.closest("defs") && size(box(mark))).length,
    outside: boxes.filter(([, a]) => !inside(a, frame, 2)).map(([text]) => text), over,
    smallest: Math.min(...texts.map(text =>
      parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width)),
  };
};
const column = (table, place) => [...table.tBodies[0].rows].map(row => row.cells[place].textContent);
const sorts = table => [...table.tHead.rows[0].cells].map((head, place) => {
  const before = column(table, place);
  head.querySelector("[role=button]").click();
  const up = column(table, place), said = head.getAttribute("aria-sort");
  head.querySelector("[role=button]").click();
  return { head: head.textContent, before, up, said, down: column(table, place) };
});
const wide = [...document.querySelectorAll("h1, h2, h3, h4, p, li, blockquote, pre, figure, div.table")]
  .filter(element => box(element).left < -1 || box(element).right > innerWidth + 1)
  .map(element => element.textContent.trim().slice(0, 60));
parent.postMessage(JSON.stringify({
  folded, unfolded: height(), pale, ground: ground(document.body),
  width: innerWidth, scrolls: document.documentElement.scrollWidth, wide,
  figures: [...document.querySelectorAll("figure")].map(holder => figure(holder.querySelector("svg"))),
  tables: [...document.querySelectorAll("table")].map(sorts),
}), "*");
"""


def chromium() -> str | None:
    """The Chromium on the search path; None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def measured(page: Path, width: int, folder: Path, *, dark: bool = False) -> dict[str, Any]:
    """What the probe finds in a copy of the page.

    Parameters
    ----------
    page : Path
    width : int
        Of the window [pixel].
    folder : Path
        For the copy.
    dark : bool
        Whether the reader prefers a dark page.
    """
    program = chromium()
    assert program is not None
    copy, frame = folder / f"probed-{width}.html", folder / f"frame-{width}.html"
    text = page.read_text(encoding="utf-8")
    assert text.count("</body>") == 1
    copy.write_text(text.replace("</body>", f"<script>{_PROBE}</script></body>"), encoding="utf-8")
    frame.write_text(_FRAME.format(page=copy.name, width=width, height=HEIGHT), encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    ran = subprocess.run(
        [
            program,
            *options,
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            f"--user-data-dir={folder / 'browser'}",
            f"--window-size={max(width, 500)},{HEIGHT}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            frame.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    found = re.search(r'<pre id="found">(.*?)</pre>', ran.stdout, re.DOTALL)
    assert found is not None
    assert found[1], ran.stderr
    record = json.loads(html.unescape(found[1]))
    assert isinstance(record, dict)
    return record
