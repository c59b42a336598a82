"""What every command of the command line says of itself, as tables that a phone can show."""


def page():
    """The page of all commands: what they do, their arguments, their options and defaults."""
    from typer.main import get_command

    from mixedbag.cli import app

    group = get_command(app)
    lines = [
        "The command line", "================", "",
        f"{group.help} ``mixedbag COMMAND --help`` says the same in a terminal.", "",
    ]  # fmt: skip
    for name, command in group.commands.items():
        lines += _section(name, command)
    return "\n".join([*lines, *_section("", group)])


def _section(name, command):
    title = f"mixedbag {name}".strip()
    given = [p for p in command.params if not p.opts[0].startswith("-")]
    options = [p for p in command.params if p.opts[0].startswith("-")]
    usage = [title, *(f"{p.name.upper()}{'...' * (p.nargs == -1)}" for p in given)]
    lines = [title, "-" * len(title), ""]
    if name:
        lines += [(command.help or "").replace("`", "``"), ""]
        usage += ["[OPTIONS]"] * bool(options)
        lines += [".. code-block:: sh", "", f"   {' '.join(usage)}", ""]
    if command.params:
        lines += [".. list-table::", "   :widths: 30 70", "   :class: options", ""]
    for parameter in [*given, *options]:
        shown = parameter.opts[0] if parameter in options else parameter.name.upper()
        lines += [f"   * - ``{shown}``", f"     - {_said(parameter)}"]
    return [*lines, ""]


def _said(parameter):
    """The help of an option, with what it is when nothing is said."""
    text = (parameter.help or "").replace("*", r"\*")
    default = parameter.default
    plain = isinstance(default, (str, int, float)) and not isinstance(default, bool)
    several = " May be given several times." if getattr(parameter, "multiple", False) else ""
    return f"{text}{several}" + (f" Default: ``{default}``." if plain and default != "" else "")
