"""Makes every Python with this folder on its path lack what Windows lacks, as far as Linux can.

Modules and functions are hidden, and files behave as on Windows: one that is open or read-only is
not removed, a name that is taken is not renamed over, a folder is not opened.
"""

# ruff: noqa: PTH115, PTH116, PTH208

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import io
import multiprocessing
import os
import pathlib
import select
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

# They are loaded first, as they would look for other functions than those of Windows.
_LOADED = (asyncio, concurrent.futures, multiprocessing, selectors, tempfile)
_MODULES = ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty", "pty", "uvloop")
_OF_OS = (
    *("chown", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid"),
    *("getuid", "killpg", "mkfifo", "setpgid", "setsid", "sysconf", "waitid"),
    *("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "getloadavg", "sched_getaffinity"),
)
_OF_SIGNAL = (
    *("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGSTOP", "SIGUSR1", "SIGXFSZ"),
    *("alarm", "pthread_kill", "pthread_sigmask", "setitimer", "sigpending", "sigtimedwait"),
)
_SIGKILL = signal.SIGKILL
_kill, _open, _rename, _replace, _unlink = os.kill, os.open, os.rename, os.replace, os.unlink
_open_stream: Any = io.open
_begin = subprocess.Popen.__init__


def _hide() -> None:
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, _OF_OS), (signal, _OF_SIGNAL), (select, ("poll", "epoll"))):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


def _refused(path: Any, why: str) -> PermissionError:
    return PermissionError(13, why, str(path))


def _require_removable(path: Any) -> None:
    if pathlib.Path(path).is_symlink() or not pathlib.Path(path).is_file():
        return
    if not os.stat(path).st_mode & 0o200:
        raise _refused(path, "Access is denied")
    real = os.path.realpath(path)
    for name in os.listdir("/proc/self/fd"):
        try:
            held = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if held == real:
            raise _refused(path, "The process cannot access the file: it is in use")


def _windows_unlink(path: Any, **options: Any) -> None:
    _require_removable(path)
    _unlink(path, **options)


def _windows_rename(source: Any, target: Any) -> None:
    if os.path.lexists(target):
        raise FileExistsError(17, "Cannot create a file that exists", str(target))
    if os.stat(source).st_mode & 0o200:  # a read-only file keeps its contents, not its name
        _require_removable(source)
    _rename(source, target)


def _windows_replace(source: Any, target: Any) -> None:
    _require_removable(source)
    _require_removable(target)
    _replace(source, target)


def _windows_open(path: Any, *options: Any, **named: Any) -> int:
    is_temporary = options and options[0] & os.O_TMPFILE == os.O_TMPFILE
    if not is_temporary and pathlib.Path(path).is_dir():
        raise _refused(path, "Permission denied")
    return _open(path, *options, **named)


def _opened(path: Any, *options: Any, **named: Any) -> Any:
    if str(path).startswith("/proc/"):
        raise FileNotFoundError(2, "No such file or directory", path)
    return _open_stream(path, *options, **named)


def _windows_kill(process: int, number: int) -> None:
    """Signal 0 is Ctrl-C there, and every other ends the process at once."""
    if number == 0:
        raise AssertionError("os.kill(pid, 0) sends Ctrl-C on Windows")
    _kill(process, _SIGKILL)


def _windows_begin(self: Any, *words: Any, **options: Any) -> None:
    if options.get("pass_fds"):
        raise ValueError("pass_fds not supported on Windows.")
    options.pop("start_new_session", None)
    _begin(self, *words, **options)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        _kill(process.pid, _SIGKILL)


def _put(place: Any, **functions: Callable[..., Any]) -> None:
    for name, function in functions.items():
        setattr(place, name, function)


_hide()
_put(os, unlink=_windows_unlink, remove=_windows_unlink, rename=_windows_rename)
_put(os, replace=_windows_replace, open=_windows_open, kill=_windows_kill)
_put(subprocess.Popen, __init__=_windows_begin, kill=_end, terminate=_end)
_put(io, open=_opened)
_put(builtins, open=_opened)
shutil._use_fd_functions = False  # type: ignore[attr-defined]

from steelyard import operating_system  # noqa: E402 - after what it looks for is hidden

operating_system.IS_WINDOWS = True
