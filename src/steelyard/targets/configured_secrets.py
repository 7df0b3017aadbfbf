"""The secrets of a whole project, whether a run asks their targets or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from steelyard.errors import ConfigError
from steelyard.settings import Settings, TargetEntry
from steelyard.targets.target_settings import filled, named_secrets

_OURS = ("STEELYARD_SPOOL_KEY", "STEELYARD_KEY")
_BUCKET = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def configured_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The keys, header values and passed-on variables of all targets that the environment has.

    A dataset or a recorded answer may hold a key of a target that this run does not use. The
    secret of the OpenID Connect client is one, too, those of the bucket with the artifacts, and
    the keys of the spool and of a server.
    """
    client = environ.get(settings.oidc.client_secret_env or "", "")
    entries = settings.targets.values()
    found = (secret for entry in entries for secret in _secrets(entry, environ))
    names = (*_OURS, *(_BUCKET if settings.artifacts else ()))
    own = (environ.get(name, "").strip() for name in names)
    return tuple(secret for secret in (*found, client, *own) if secret)


def _secrets(entry: TargetEntry, environ: Mapping[str, str]) -> Iterator[str]:
    with suppress(ConfigError):
        variable = str(filled(entry.text("api_key_env"), "api_key_env", environ))
        yield environ.get(variable, "").strip()
    outside = (
        (name, value)
        for key in ("env", "settings")
        for name, value in entry.object(key).items()
        if isinstance(value, str) and "${" in value
    )
    for name, value in (*entry.object("headers").items(), *outside):
        # What is not in the environment cannot have been written either.
        with suppress(ConfigError):
            yield str(filled(value, name, environ))
    yield from named_secrets(entry.row(), environ)
