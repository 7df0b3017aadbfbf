"""The repository's one tool: setup | demo | test | trials | check | soak | docs | lock.

`python3 dev.py COMMAND` needs nothing but Python 3.11 or newer with venv and pip.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
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
  test    run the test suite with coverage (8 minutes on two cores)
  trials  run the long tests with real parts, and the property tests on more examples (20 minutes)
  check   format, lint, types, layers, tests and trials, the same as CI
          (--no-tests: neither tests nor trials)
  soak    run the longest tests, and the property tests on many examples with a fresh seed
  docs    make the documentation as a site with search, in build/docs or the folder that is named
  lock    write locks/run.txt and locks/dev.txt anew

`test` and `trials` give the same result for the same commit. Arguments after `demo`, `test`,
`trials` and `soak` are passed on."""
PARALLEL = ("-n", "2", "--dist", "worksteal")
MOST_REPEATED = 5
"""How many failed tests are run once more; where more fail, something is broken."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an old Python should say so itself
        return complain(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    commands = {
        "setup": setup,
        "demo": demo,
        "test": test,
        "trials": trials,
        "check": check,
        "soak": soak,
        "docs": docs,
        "lock": lock,
    }
    if not arguments or arguments[0] not in commands:
        print(USAGE, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    try:
        return commands[arguments[0]](arguments[1:])
    except subprocess.CalledProcessError as error:
        if error.output:
            sys.stderr.write(os.fsdecode(error.output))
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
    marks = "not trials and not soak"
    if arguments:
        return pytest(marks, *arguments)
    options = ("--cov", "--cov-report=term", "--durations=20")
    code = whole(marks, *options)
    # Without a failed test the session has checked the gate. A process that ended has taken along
    # what it measured, and a second run of the test that hung in it says nothing about the gate.
    if not code and coverage_gate():
        print("\na process of the tests ended before its time; all once more", flush=True)
        code = whole(marks, *options) or coverage_gate()
    return code


def coverage_gate() -> int:
    """Whether the tests have run enough of the product: 0, or another code."""
    return run(PYTHON, "-m", "coverage", "report", "--format=total")


def trials(arguments: list[str]) -> int:
    """Run what is too long for the suite, without coverage."""
    install("dev")
    marks = "(trials or hypothesis) and not soak"
    base = ("--hypothesis-profile=trials", *time_for_a_test(840))
    return pytest(marks, *base, *arguments) if arguments else whole(marks, *base, "--durations=20")


def soak(arguments: list[str]) -> int:
    """Run what takes too long for CI; say how to repeat it."""
    install("dev")
    seed = next((word for word in arguments if word.startswith("--hypothesis-seed=")), None)
    if seed is None:
        seed = f"--hypothesis-seed={secrets.randbelow(2**32)}"
        arguments = [seed, *(arguments or PARALLEL)]
    base = ("--hypothesis-profile=soak", *time_for_a_test(7200))
    code = pytest("soak or hypothesis", *base, *arguments)
    print(f"reproduce: python3 dev.py soak {seed}   (with -k NAME for one test)")
    return code


def whole(marks: str, *options: str) -> int:
    """Run all tests with these marks; the few that fail once more, one after the other.

    What passes alone depends on how busy the machine is: it is named, and it is to be mended.
    """
    code = pytest(marks, "--cache-clear", *PARALLEL, *options)
    failed = failed_tests() if code == 1 else []
    # A process that could not collect the tests is no test that failed.
    if not 0 < len(failed) <= MOST_REPEATED or not all("::" in name for name in failed):
        return code
    print(f"\n{len(failed)} failed; once more, alone:", *failed, sep="\n  ", flush=True)
    alone = [word for word in options if not word.startswith("--cov")]
    code = pytest(marks, "--last-failed", "--last-failed-no-failures=none", *alone)
    if not code:
        print("failed beside other tests and passed alone, to be mended:", *failed, sep="\n  ")
    return code


def time_for_a_test(seconds: int) -> tuple[str, ...]:
    """After this time a test hangs and fails; `test` has its own in pyproject.toml."""
    return ("-o", f"timeout={seconds}", "-o", f"faulthandler_timeout={seconds + 60}")


def failed_tests() -> list[str]:
    """The tests that failed in the last session of pytest."""
    kept = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
    return sorted(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else []


def pytest(marks: str, *options: str) -> int:
    """Run the tests with these marks."""
    # Without bytecode every process that a test starts would compile the product anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return run(PYTHON, "-m", "pytest", "-m", marks, *options)


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
    if "--no-tests" not in arguments:
        failed += [name for name, tests in (("tests", test), ("trials", trials)) if tests([])]
    return complain("failed: " + ", ".join(failed)) if failed else 0


def docs(arguments: list[str]) -> int:
    """Make the documentation as pages to be opened from a folder; nothing is fetched."""
    install("run")
    return run(PYTHON, "docs/site/make.py", *map(os.path.abspath, arguments))


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
        run(PYTHON, "-P", "-m", "uv", *base, *options, *quiet, "-o", fresh, must=True)
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
    pip = [PYTHON, "-P", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    requirements = ROOT / "locks" / f"{lock_name}.txt"
    # The lock names every package: an older pip that resolves again takes a newer release of what
    # a package asks for with an extra, and refuses it for want of a hash.
    hashed = ("--require-hashes", "--no-deps", "--only-binary", ":all:")
    run_quietly(*pip, *hashed, "-r", requirements)
    run_quietly(*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT)
    run(PYTHON, "-P", "-m", "compileall", "-qq", "-j", "0", VENV, ROOT / "src")
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


def run_quietly(*command: object) -> None:
    """Run a program that must succeed; what it prints is shown only if it fails."""
    words = [str(word) for word in command]
    merged = subprocess.STDOUT
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=merged)


def complain(message: str) -> int:
    """Print an error and return the exit code for it."""
    print(f"dev.py: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
