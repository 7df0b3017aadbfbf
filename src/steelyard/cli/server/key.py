"""`steelyard key`: API keys of programs that use the service."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import for_terminal, show, show_json

KeyName = Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")]
RoleName = Annotated[
    str, typer.Option("--role", help="viewer, annotator, editor or admin.", show_default=False)
]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="SCOPE", help="Restrict the key to a scope; repeatable."),
]
Expires = Annotated[
    int | None,
    typer.Option(metavar="DAYS", min=1, max=3650, help="Days until the key expires."),
]
Known = Annotated[str, typer.Argument(metavar="KEY", help="The id or the name of a key.")]
Output = Annotated[OutputFormat, typer.Option("--format", help="Output format.")]


def key_commands() -> typer.Typer:
    """The commands of keys."""
    app = typer.Typer(
        help="API keys of the service: create, list, revoke.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )

    @app.command("create", help="Create an API key and print it, this once.")
    def create(
        name: KeyName, role: RoleName, scope: Scopes = None, expires: Expires = None
    ) -> None:
        from steelyard.usecases.access.keys import KeyRequest, create_key

        request = KeyRequest(name, role, scope or None, expires)
        made = create_key(opened().access_ports(), request)
        show(made.secret)

    @app.command("list", help="List API keys, without their secrets.")
    def listed(output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.access.keys import list_keys

        project = opened()
        keys, at = list_keys(project.access_ports()), project.clock.stamp()
        if output is OutputFormat.json:
            show_json({"data": [{**asdict(key), "scopes": sorted(key.allowed)} for key in keys]})
            return
        for key in keys:
            words = [key.key_id, key.name, key.role, *_notes(key, at)]
            show(for_terminal("  ".join(words)))
        if not keys:
            show("there are no keys")

    @app.command("revoke", help="Revoke an API key at once and for good.")
    def revoke(key: Known) -> None:
        from steelyard.usecases.access.keys import revoke_key

        revoked = revoke_key(opened().access_ports(), key)
        show(f"revoked {revoked.key_id} ({revoked.name})")

    return app


def _notes(key: Any, at: str) -> list[str]:
    """What a line says of a key beside its name."""
    notes = [] if key.scopes is None else [f"only {', '.join(sorted(key.allowed)) or 'nothing'}"]
    if key.revoked_at:
        notes.append(f"revoked {key.revoked_at[:10]}")
    elif key.expires_at:
        notes.append(f"{'expires' if key.is_valid(at) else 'expired'} {key.expires_at[:10]}")
    notes.append(f"last used {key.last_used_at[:10]}" if key.last_used_at else "never used")
    return notes
