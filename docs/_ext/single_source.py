"""A section of a file of the repository, or a whole file without its title, in any page.

    ```{from} README.md
    :section: Variants of your own
    ```

Its links to files become links to their pages. Section `opening` is what stands before the first one.
"""

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from repository_text import ROOT, sections, with_links
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class From(SphinxDirective):
    """A section of a file of the repository, or the whole file without its title."""

    required_arguments = 1
    option_spec: ClassVar = {"section": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """The section's nodes."""
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        if (wanted := self.options.get("section")) == "opening":
            text = text.partition("\n")[2].partition("\n## ")[0]
        elif wanted:
            found = {title: content for _, title, content in sections(text)}
            if wanted not in found:
                raise self.error(f"{path.name} has no section {wanted!r}; it has {', '.join(found)}")
            text = found[wanted]
        else:
            text = text.partition("\n")[2]
        text = with_links(text, "../" * self.env.docname.count("/"))
        holder = nodes.section()
        holder.document = self.state.document
        self.state.nested_parse(StringList(text.split("\n"), str(path)), 0, holder, match_titles=True)
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("from", From)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
