"""`steelyard user`: who may log in to the service."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import for_terminal, show, show_json
from steelyard.errors import InvalidError

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the user.")]
RoleName = Annotated[
    str, typer.Option("--role", help="viewer, annotator, editor or admin.", show_default=False)
]
NewRole = Annotated[
    str, typer.Argument(metavar="ROLE", help="viewer, annotator, editor or admin.")
]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")]
Output = Annotated[OutputFormat, typer.Option("--format", help="Output format.")]


def user_commands() -> typer.Typer:
    """The commands of users."""
    app = typer.Typer(
        help="Users of the service: add, list, role, password, remove.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )

    @app.command("add", help="Add a user who logs in with a password.")
    def add(name: Name, role: RoleName, password_stdin: FromStdin = False) -> None:
        from steelyard.usecases.access.users import add_user, required_role

        required_role(role)
        add_user(opened().access_ports(), name, role, _password(from_stdin=password_stdin))
        show(f"added {name} as {role}")

    @app.command("list", help="List users.")
    def listed(output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.access.users import list_users

        users = list_users(opened().access_ports())
        if output is OutputFormat.json:
            show_json({"data": [_row(user) for user in users]})
            return
        for user in users:
            login = "password" if user.has_password else user.issuer
            line = f"{user.name}  {user.role}  {login}  since {user.created_at[:10]}"
            show(for_terminal(line))
        if not users:
            show("there are no users")

    @app.command("role", help="Change a user's role; ends the user's sessions.")
    def role(name: Name, role: NewRole) -> None:
        from steelyard.usecases.access.users import set_role

        set_role(opened().access_ports(), name, role)
        show(f"{name} is {role} now")

    @app.command("password", help="Change a user's password; ends the user's sessions.")
    def password(name: Name, password_stdin: FromStdin = False) -> None:
        from steelyard.usecases.access.users import set_password, show_user

        ports = opened().access_ports()
        show_user(ports, name)
        set_password(ports, name, _password(from_stdin=password_stdin))
        show(f"changed the password of {name}")

    @app.command("remove", help="Remove a user; ends the user's sessions.")
    def remove(name: Name) -> None:
        from steelyard.usecases.access.users import remove_user

        remove_user(opened().access_ports(), name)
        show(f"removed {name}")

    return app


def _row(user: Any) -> dict[str, Any]:
    names = ("name", "role", "created_at", "has_password", "issuer")
    return {name: getattr(user, name) for name in names}


def _password(*, from_stdin: bool) -> str:
    """The password that is typed twice on a terminal, or read from stdin without its newline."""
    if from_stdin:
        data = sys.stdin.buffer.read()
        try:
            return data.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise InvalidError("the password on stdin is not UTF-8") from None
    if not sys.stdin.isatty():
        raise InvalidError("there is no terminal to ask on; pass --password-stdin")
    return typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
