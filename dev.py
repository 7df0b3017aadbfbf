"""The repository's one tool: python3 dev.py setup | demo | test | check | soak | lock.

It needs nothing but Python 3.11 or newer with venv and pip.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
USAGE = """usage: python3 dev.py COMMAND

  setup   make .venv with the product and the tools; leaves .venv/bin/steelyard
  demo    install what the product needs and show it working (offline)
  test    run the test suite (under ten minutes)
  check   format, lint, types, layers and tests, the same as CI (--no-tests: all but the tests)
  soak    run the long trials
  lock    write locks/run.txt and locks/dev.txt anew

Words after `demo`, `test` and `soak` are passed on."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an old Python should say so itself
        return complain(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    commands = {
        "setup": setup,
        "demo": demo,
        "test": test,
        "check": check,
        "soak": soak,
        "lock": lock,
    }
    if not arguments or arguments[0] not in commands:
        print(USAGE, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    try:
        return commands[arguments[0]](arguments[1:])
    except subprocess.CalledProcessError as error:
        return error.returncode or 1
    except KeyboardInterrupt:
        return 130


def setup(_arguments: list[str]) -> int:
    """Install the product with all development tools."""
    install("dev")
    print(f"ready: {BIN / 'steelyard'}")
    return 0


def demo(arguments: list[str]) -> int:
    """Install the run-time dependencies alone and run the demo."""
    install("run")
    return run(BIN / "steelyard", "demo", *arguments)


def test(arguments: list[str]) -> int:
    """Run the suite with coverage; a selection of tests runs without the gate."""
    install("dev")
    whole = ["-n", "2", "--dist", "worksteal", "--cov", "--cov-report=term", "--durations=20"]
    options = arguments or whole
    return run(PYTHON, "-m", "pytest", "-m", "not soak", *options)


def soak(arguments: list[str]) -> int:
    """Run the trials that take too long for the suite."""
    install("dev")
    return run(PYTHON, "-m", "pytest", "-m", "soak", *arguments)


def check(arguments: list[str]) -> int:
    """Run every check that CI runs; all of them, even when one fails."""
    install("dev")
    steps = [
        ("format", [BIN / "ruff", "format", "--check", "."]),
        ("lint", [BIN / "ruff", "check", "."]),
        ("types", [BIN / "basedpyright", "--warnings"]),
        ("layers", [BIN / "lint-imports"]),
    ]
    failed: list[str] = []
    for name, command in steps:
        print(f"== {name}", flush=True)
        if run(*command):
            failed.append(name)
    if "--no-tests" not in arguments and test([]):
        failed.append("tests")
    return complain("failed: " + ", ".join(failed)) if failed else 0


def lock(_arguments: list[str]) -> int:
    """Resolve the dependencies into two hashed files that name no index."""
    install("dev")
    base = ["pip", "compile", "pyproject.toml", "--universal", "--generate-hashes", "--no-header"]
    for name, options in (
        ("run", ["--group", "build"]),
        ("dev", ["--group", "build", "--group", "dev"]),
    ):
        fresh = ROOT / "locks" / f"{name}.txt"
        fresh.unlink(missing_ok=True)
        quiet = ["--quiet", "--no-emit-index-url", "--no-emit-find-links"]
        run(PYTHON, "-m", "uv", *base, *options, *quiet, "-o", fresh, must=True)
    return 0


def install(lock_name: str) -> None:
    """Bring .venv in step with a lock file; a dev environment serves `run` too."""
    if not PYTHON.exists():
        make_venv()
    stamp = VENV / "installed.txt"
    wanted = fingerprint(lock_name)
    have = stamp.read_text(encoding="utf-8").split("\n") if stamp.exists() else []
    if wanted in have:
        return
    print(f"installing {lock_name} dependencies into .venv ...", file=sys.stderr, flush=True)
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    requirements = ROOT / "locks" / f"{lock_name}.txt"
    run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", requirements, must=True)
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT, must=True)
    run(PYTHON, "-m", "compileall", "-q", "-j", "0", VENV, ROOT / "src")
    done = [wanted, fingerprint("run")] if lock_name == "dev" else [wanted]
    stamp.write_text("\n".join(done), encoding="utf-8")


def make_venv() -> None:
    """Create .venv, or say which package is missing for it."""
    try:
        ensurepip, venv = import_module("ensurepip"), import_module("venv")
    except ImportError:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        complain(
            "this Python has no venv with pip. On Debian or Ubuntu: "
            f"apt install python{version}-venv; elsewhere install Python from python.org"
        )
        raise SystemExit(2) from None
    assert ensurepip
    venv.create(VENV, with_pip=True)


def fingerprint(lock_name: str) -> str:
    """What an installation of this lock depends on."""
    parts = [ROOT / "locks" / f"{lock_name}.txt", ROOT / "pyproject.toml"]
    digest = hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()
    return f"{lock_name} {digest} {sys.version_info.major}.{sys.version_info.minor}"


def run(*command: object, must: bool = False) -> int:
    """Run a program in the repository's root."""
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=ROOT, check=must).returncode


def complain(message: str) -> int:
    """Print an error and return the exit code for it."""
    print(f"dev.py: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
