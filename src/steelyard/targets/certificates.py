"""The CA certificates of an endpoint; problems with them are reported immediately."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.parse import urlsplit

from steelyard.errors import ConfigError
from steelyard.targets.target_settings import TargetSettings

_VARIABLE = "SSL_CERT_FILE"


def trusted(given: TargetSettings, address: str) -> ssl.SSLContext | None:
    """What `ca_file` trusts; None where the certificates of the machine count."""
    is_secure = urlsplit(address).scheme == "https"
    if "ca_file" in given.entry.extra:
        if not is_secure:
            raise given.wrong(f"'ca_file' changes nothing, since {address} is not https")
        path = given.root / given.needed("ca_file")
        return _loaded(path, f"{given.place}: ca_file {path}")
    named = given.environ.get(_VARIABLE)
    if is_secure and named:
        # The library would say nothing, and trust nobody.
        _loaded(Path(named), f"the environment variable {_VARIABLE} names {named}, which")
    return None


def _loaded(path: Path, what: str) -> ssl.SSLContext:
    if not path.is_file():
        raise ConfigError(f"{what} is no file" if path.exists() else f"{what} is not there")
    try:
        return ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        raise ConfigError(f"{what} holds no PEM certificate that can be read") from None
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error.strerror}") from None
