"""Every command of msopt with its options, as the command line itself describes them."""

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from reports.cli.app import app as command_line


class Commands(SphinxDirective):
    """A heading for each command, its text, and a list of its options."""

    def run(self) -> list[nodes.Node]:
        """The commands' nodes."""
        commands = get_command(command_line).commands
        lines = [line for name, command in sorted(commands.items()) for line in _described(name, command)]
        holder = nodes.section()
        holder.document = self.state.document
        self.state.nested_parse(StringList(lines, "commands"), 0, holder, match_titles=True)
        return holder.children


def _described(name: str, command: Any) -> list[str]:
    lines = [f"### msopt {name}", "", *(command.help or "").replace("\b", "").strip().splitlines(), ""]
    for option in command.params:
        names = [option.name.upper()] if option.param_type_name == "argument" else option.opts + option.secondary_opts
        if "--help" not in names:
            lines += [", ".join(f"`{each}`" for each in names), f": {' '.join((option.help or '').split())}", ""]
    return lines


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
