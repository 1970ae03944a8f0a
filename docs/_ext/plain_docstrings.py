"""Docstrings are plain text for people who read the source; here they become reStructuredText."""

import re
from typing import Any

from sphinx.application import Sphinx

NAMED = re.compile(r"^(?P<name>[a-z]\w*)(?: {2,}| (?=[a-z]))(?P<text>\S.*)$")
CONTINUED = re.compile(r"^ {8,}\S")
"""A line of a module's table of names, and one that goes on with it."""


def escaped(line: str) -> str:
    r"""The line with what would be markup, absolute values and subscripts, as the signs that they are.

    >>> print(escaped("|ln a| - W_-1(x)"))
    \|ln a\| - W\_-1(x)
    """
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(
        part if part.startswith("`") else re.sub(r"\||(?<=\w)_(?!\w)", lambda sign: "\\" + sign[0], part)
        for part in parts
    )


def prepared(what: str, lines: list[str]) -> list[str]:
    """The lines of a docstring; in a module's every name of a table with its text below it."""
    found = []
    table = [bool(NAMED.match(line)) and "  " in line.strip() for line in lines]
    for line, begins in zip(lines, table, strict=True):
        if what == "module" and begins and (entry := NAMED.match(line)):
            found += [f"`{entry['name']}`", f"    {escaped(entry['text'])}"]
        elif what == "module" and CONTINUED.match(line):
            found.append(f"    {escaped(line.strip())}")
        else:
            found.append(escaped(line))
    return found


def _process(app: Sphinx, what: str, name: str, of: object, options: Any, lines: list[str]) -> None:
    lines[:] = prepared(what, lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
