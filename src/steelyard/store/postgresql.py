"""A PostgreSQL database as the store of a project; imported where one is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from steelyard.errors import ConfigError, UnavailableError
from steelyard.store.dialects import KEPT_NUL, KEPT_ONE, NUL, ONE

if TYPE_CHECKING:
    import psycopg

try:
    from psycopg import ProgrammingError
    from psycopg.adapt import Buffer, Loader
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.string import StrDumper
except ImportError:
    raise ConfigError(
        "`store` names a PostgreSQL server, which needs psycopg: "
        "pip install 'steelyard[postgresql]'"
    ) from None

_SCHEME = "postgresql://"
_LAST_PORT = 65_535
_PARAMETER = re.compile(r'parameter: ("[^"]*")')
_OLDEST = 14
_POOL, _MORE = 5, 10
"""Connections of a process that stay open, and how many more it may open for a while."""
_RECYCLED_S = 1800
IDLE_S = 10.0
"""So long a transaction may lie idle: whoever was suspended, or has lost its network, within one
shall not keep others from a run whose lease has ended, which lasts longer than this."""
_DEFAULTS: dict[str, object] = {
    "application_name": "steelyard",
    "connect_timeout": 10,
    # A server that is gone without a word is noticed within a minute.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""What holds where the address says nothing else."""
_KEPT = re.compile(f"{ONE}[{KEPT_NUL[1]}{KEPT_ONE[1]}]")
_TEXTS = ("text", "varchar")
_HELP = {
    "28P01": "set the right password where `store` gets it from",
    "28000": "let the role log in from here (pg_hba.conf)",
    "3D000": "make the database: createdb",
    "42501": "let the role make tables in its schema: GRANT CREATE, USAGE ON SCHEMA",
    "53100": "make room on the disk of the server, then `steelyard resume` the run",
    "53300": "raise max_connections of the server, or run fewer processes",
    "25006": "name the server that takes writes in `store`",
    "25P03": "this process was suspended for a while, or the machine is very busy; try again",
    "55P03": "another process holds a lock; try again when that has ended",
}
_SAYS = {
    "password authentication failed": "28P01",
    "no password supplied": "28P01",
    "no pg_hba.conf entry": "28000",
    "does not exist": "3D000",
    "too many clients": "53300",
    "remaining connection slots": "53300",
}
"""Refusals at the time of connecting come without a code."""
_AWAY = ("08", "57")
"""Classes of codes: the connection has failed, or an operator has ended it."""
_UNREACHABLE = "start the server, or correct the address in `store`"


class _TextDumper(StrDumper):
    """Writes null characters as PostgreSQL can keep them."""

    def dump(self, obj: str) -> Buffer | None:
        if ONE in obj or NUL in obj:
            obj = obj.replace(ONE, KEPT_ONE).replace(NUL, KEPT_NUL)
        return super().dump(obj)


class _TextLoader(Loader):
    """Reads what was written so."""

    def load(self, data: Buffer) -> str:
        text = bytes(data).decode("utf-8")
        return _KEPT.sub(_meant, text) if ONE in text else text


def _meant(kept: re.Match[str]) -> str:
    return NUL if kept[0] == KEPT_NUL else ONE


def postgresql_engine(address: str, patience_s: float) -> Engine:
    """The database at an address, through a small pool of connections."""
    url = _url(address)
    given = {name: value for name, value in _DEFAULTS.items() if name not in url.query}
    engine = create_engine(
        url,
        isolation_level="READ COMMITTED",
        pool_size=_POOL,
        max_overflow=_MORE,
        pool_timeout=patience_s,
        pool_recycle=_RECYCLED_S,
        # One that a restart of the server has closed is replaced, and nobody notices.
        pool_pre_ping=True,
        connect_args=given,
    )

    def configure(connection: psycopg.Connection[Any], _record: object) -> None:
        connection.adapters.register_dumper(str, _TextDumper)
        for name in _TEXTS:
            connection.adapters.register_loader(name, _TextLoader)
        connection.execute(
            "SELECT set_config('lock_timeout', %s, false), "
            "set_config('idle_in_transaction_session_timeout', %s, false)",
            (f"{patience_s:.3f}s", f"{IDLE_S:.3f}s"),
        )
        connection.commit()

    event.listen(engine, "connect", configure)
    return engine


def require_server(connection: Connection) -> None:
    """Refuse a server that is too old, or a database that cannot hold every text."""
    number = connection.exec_driver_sql("SHOW server_version_num").scalar_one()
    if int(number) < _OLDEST * 10_000:
        raise UnavailableError(
            f"the store runs on PostgreSQL {int(number) // 10_000}; {_OLDEST} or a later version "
            "is needed"
        )
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != "UTF8":
        raise UnavailableError(
            f"the database of the store has the encoding {encoding}; make one with UTF8: "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )


def shown_address(url: URL) -> str:
    """Where a store is, without who logs in and how."""
    host = url.host or url.query.get("host") or "localhost"
    named = ",".join(host) if isinstance(host, tuple) else host
    port = f":{url.port}" if url.port else ""
    return f"{_SCHEME}{named}{port}/{url.database or ''}"


def postgresql_reason(url: URL, cause: BaseException) -> str:
    """The message of the server in one line, without the password, with its code and advice."""
    diagnosed = getattr(cause, "diag", None)
    # The whole message shows the values of the row.
    text = " ".join(str((diagnosed and diagnosed.message_primary) or cause).split())
    for secret in (url.password, url.query.get("password")):
        text = text.replace(str(secret), "***") if secret else text
    code = getattr(cause, "sqlstate", None)
    if code is None:
        code = next((code for says, code in _SAYS.items() if says in text), None)
        advice = _HELP[code] if code else _UNREACHABLE if "connect" in text else ""
    else:
        advice = _HELP.get(code, "")
        text += f" ({code})"
    return text + (f"; {advice}" if advice else "")


def is_lost(error: Exception) -> bool:
    """Whether a statement has failed because the server was away, and not of itself."""
    if not isinstance(error, DBAPIError):
        return False
    code = getattr(error.orig, "sqlstate", None)
    is_away = isinstance(error, OperationalError) and (code is None or code[:2] in _AWAY)
    return error.connection_invalidated or is_away


def _url(address: str) -> URL:
    """The address for the driver; what it says is a secret, and no error shows it."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.get_backend_name() != "postgresql" or not url.database:
        raise ConfigError(
            "`store` is no address of a PostgreSQL database; write "
            f"{_SCHEME}user:${{VARIABLE}}@host:5432/database"
        )
    _require_known(address, url.port)
    return url.set(drivername="postgresql+psycopg")


def _require_known(address: str, port: int | None) -> None:
    """Refuse a parameter that no driver knows, and a port that there is not."""
    wrong = f"port {port}" if port is not None and not 0 < port <= _LAST_PORT else None
    try:
        conninfo_to_dict(address)
    except ProgrammingError as error:
        found = _PARAMETER.search(str(error))
        wrong = f"the parameter {found[1]}" if found else "its form"
    if wrong:
        raise ConfigError(f"`store` is no address of a PostgreSQL database: {wrong} is wrong")
