"""Every command of msopt with its options, as the command line itself describes them."""

from typing import Any

from typer.main import get_command

from reports.cli.app import app


def commands() -> str:
    """A heading for each command, its text, and a list of its options, in Markdown."""
    known: dict[str, Any] = vars(get_command(app))["commands"]
    return "\n".join(line for name, command in sorted(known.items()) for line in _described(name, command))


def _described(name: str, command: Any) -> list[str]:
    lines = [f"### msopt {name}", "", *(command.help or "").replace("\b", "").strip().splitlines(), ""]
    for option in command.params:
        names = [option.name.upper()] if option.param_type_name == "argument" else option.opts + option.secondary_opts
        if "--help" not in names:
            lines += [", ".join(f"`{each}`" for each in names), f": {' '.join((option.help or '').split())}", ""]
    return lines
