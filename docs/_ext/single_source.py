"""A section of a file of the repository, a whole file without its title, or all commands, in any page.

    ```{from} README.md: Variants of your own
    ```

stands for the section of that name, `opening` for what comes before the first, a file alone for all of it. Links to
files become links to their pages. `{from} msopt` alone stands for the commands with their options.
"""

import re
from typing import Any

from command_texts import commands
from repository_text import ROOT, sections, with_links
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

BESIDE = "](../DESIGN.md)"
FENCE = re.compile(r"^```\{from\} (?P<file>[\w.]+)(?:: (?P<section>[^\n]+))?\n```$", flags=re.MULTILINE)


def text_of(file: str, section: str | None) -> str:
    """What stands in a file, below its title, or below one of its headings."""
    text = (ROOT / file).read_text(encoding="utf-8").partition("\n")[2]
    if section is None:
        return text
    if section == "opening":
        return text.partition("\n## ")[0]
    found = {title: content for _, title, content in sections(text)}
    if section not in found:
        raise ExtensionError(f"{file} has no section {section!r}; it has {', '.join(found)}")
    return found[section]


def _insert(app: Sphinx, page: str, content: list[str]) -> None:
    def inserted(fence: re.Match[str]) -> str:
        if fence["file"] == "msopt":
            return commands()
        app.env.note_dependency(str(ROOT / fence["file"]), docname=page)
        return with_links(text_of(fence["file"], fence["section"]), "../" * page.count("/"))

    text = FENCE.sub(inserted, content[0])
    # A page that is a file of the repository by itself links as its neighbours do.
    content[0] = with_links(text.replace(BESIDE, "](DESIGN.md)"), "../" * page.count("/")) if BESIDE in text else text


def setup(app: Sphinx) -> dict[str, Any]:
    """Insert before a page is parsed, so that headings keep their rank."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
