"""Help in groups, as plain text: what most people need first, the rest under headings."""

from typing import Any

from typer.core import TyperGroup

OTHERS = "Other commands"
WIDTH = 68


class GroupedHelp(TyperGroup):
    """A command group whose help lists commands under the headings that they name."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section a heading, in the order of the commands."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is None or command.hidden:
                continue
            heading = getattr(command, "rich_help_panel", None)
            where = heading if isinstance(heading, str) else OTHERS
            sections.setdefault(where, []).append((name, command.get_short_help_str(WIDTH)))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the epilog as it was laid out, a line each."""
        del ctx
        if self.epilog:
            formatter.write_paragraph()
            for line in self.epilog.split("\n"):
                formatter.write_text(line)
