"""What all tests share: how Hypothesis searches, and what a session says at its end."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fakes import warm_command

pytest_plugins = [
    "suite_report",
    "memory_folder",
    "fakes.quick_hashes",
    "servers.certificates",
]

# A job in the background of a shell ignores Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same commit gives the same result, however busy the machine is; `python3 dev.py soak` takes
# fresh seeds. `trials` searches longer than `test`: see strategies/effort.py.
STEADY = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("test", STEADY, max_examples=25)
settings.register_profile("trials", STEADY, max_examples=100)
settings.register_profile("soak", STEADY, derandomize=False, max_examples=1000)
settings.load_profile("test")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that wants both stores with each, unless it is about files."""
    if "both_stores" in metafunc.fixturenames:
        is_of_file = metafunc.definition.get_closest_marker("sqlite") is not None
        on_server = () if is_of_file else (pytest.param("postgresql", marks=pytest.mark.trials),)
        metafunc.parametrize("both_stores", ["sqlite", *on_server], indirect=True)


@pytest.fixture
def both_stores(request: pytest.FixtureRequest) -> Generator[None]:
    """A test with its stores in files, and once more with PostgreSQL."""
    from fakes.stores import stores_on_server  # noqa: PLC0415 - many tests have no store

    with stores_on_server(os.environ) if request.param == "postgresql" else nullcontext():
        yield


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """Measure coverage in this process and in warm commands; in others it doubles their time."""
    warm_command.COVERAGE.update(_without_coverage())


def _without_coverage() -> dict[str, str]:
    """Take away what makes coverage measure the processes that a test starts."""
    return {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("COVERAGE_")}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the collector of garbage the walks over all tests: many times while they are made."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    """Have warm commands write what they measured before coverage is put together."""
    try:
        return (yield)
    finally:
        warm_command.close_servers()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the commands of a test that is marked `no_cover` go unmeasured as well."""
    # Coverage that was paused for such a test has set them again.
    _without_coverage()
    warm_command.choose_server(is_measured=item.get_closest_marker("no_cover") is None)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Forget the modules of projects: the next test may have others of the same names."""
    roots: set[Path] = getattr(sys.modules.get("steelyard.targets.callables"), "_ROOTS", set())
    for name, module in [*sys.modules.items()] if roots else []:
        file = getattr(module, "__file__", None)
        if file and any(Path(file).is_relative_to(root) for root in roots):
            del sys.modules[name]
    roots.clear()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave property tests out of coverage: tracing every example takes minutes."""
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")
