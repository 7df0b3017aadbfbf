"""The SQLite file of a project: opened, kept private and set up to be safe."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import get_ident
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Engine, create_engine, event

from steelyard.errors import UnavailableError
from steelyard.store.file_names import take_name
from steelyard.store.private_files import close_to_others, make_private_folder, private

_INODES: WeakKeyDictionary[Engine, int] = WeakKeyDictionary()
"""The file that each engine has opened."""
_HELP = {
    "SQLITE_FULL": "make room on the disk, then `steelyard resume` the run",
    "SQLITE_IOERR": "make room on the disk, or look after it, then `steelyard resume` the run",
    "SQLITE_CORRUPT": "the file is damaged: put it back from a backup, or move it away and start "
    "anew; finished runs can be read from their folders",
    "SQLITE_NOTADB": "the file is no database: put it back from a backup, or move it away and "
    "start anew; finished runs can be read from their folders",
    "SQLITE_READONLY": "make the file and its folder writable",
    "SQLITE_CANTOPEN": "make the folder writable",
    "SQLITE_PERM": "make the file and its folder writable",
    "SQLITE_BUSY": "another process holds it; try again when that has ended",
    "SQLITE_LOCKED": "another process holds it; try again when that has ended",
}
_PAGE_BYTES = 8 * 1024
_STATEMENTS = 512
"""So many are kept compiled: inserts of every number of rows are among them."""


def sqlite_engine(path: Path, patience_s: float) -> Engine:
    """The file, made when it is not there; where another process holds a lock it is waited for."""
    _make_private(path)
    address = URL.create("sqlite", database=str(path))
    engine = create_engine(
        address, connect_args={"timeout": patience_s, "cached_statements": _STATEMENTS}
    )
    event.listen(engine, "connect", partial(_configure, patience_s))
    return engine


def note_file(engine: Engine) -> None:
    """Remember which file it is that was opened."""
    _INODES[engine] = Path(str(engine.url.database)).stat().st_ino


def require_file(engine: Engine) -> None:
    """Refuse to go on with a file that was deleted, or is another one by now."""
    path = Path(str(engine.url.database))
    try:
        is_same = path.stat().st_ino == _INODES.get(engine)
    except OSError:
        is_same = False
    if not is_same:
        raise UnavailableError(
            f"the store {path} was deleted or replaced while it was used; what this run has kept "
            "since then is lost. Put it back from a backup, or start a new run"
        )


def sqlite_reason(cause: BaseException) -> str:
    """The message of SQLite with its code and advice."""
    name = getattr(cause, "sqlite_errorname", None)
    if isinstance(cause, UnicodeDecodeError):
        name = "SQLITE_CORRUPT"
    if name is None:
        return str(cause)
    helps = next((advice for code, advice in _HELP.items() if name.startswith(code)), None)
    return f"{cause} ({name})" + (f"; {helps}" if helps else "")


def _make_private(path: Path) -> None:
    """SQLite gives its log the rights of the file beside it, and that one those of the umask."""
    make_private_folder(path.parent)
    # What is wrong with the file SQLite says better.
    with suppress(OSError):
        if not path.exists():
            _make_empty(path)
    for name in ("", "-wal", "-shm"):
        close_to_others(path.with_name(path.name + name))


def _make_empty(path: Path) -> None:
    # To close the file itself would end the locks of whoever has opened it here meanwhile.
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    with open(part, "xb", opener=private):
        pass
    try:
        take_name(part, path)
    finally:
        part.unlink(missing_ok=True)


def _configure(patience_s: float, connection: sqlite3.Connection, _record: object) -> None:
    """Every commit is on the disk when it returns, and readers never wait for a writer."""
    # Of a file that is made now. In pages of the usual size no result would fit into one.
    connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
    deadline = time.monotonic() + patience_s
    while not _is_wal(connection, deadline):
        time.sleep(0.01)
    connection.execute("PRAGMA synchronous=FULL")
    # macOS alone heeds it, where a sync otherwise ends in the cache of the disk.
    connection.execute("PRAGMA fullfsync=ON")
    # Only for what is undone when a statement fails: its notes need no file.
    connection.execute("PRAGMA temp_store=MEMORY")


def _is_wal(connection: sqlite3.Connection, deadline: float) -> bool:
    """Whether the mode is set; while another process makes the file, SQLite refuses at once."""
    try:
        connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) or time.monotonic() > deadline:
            raise
        return False
    return True
