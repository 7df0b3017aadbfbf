"""The connection to a Ray cluster, and what is wrong with it in words."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from steelyard.errors import EngineAwayError, InvalidError, argument
from steelyard.operating_system import end_at_once_later
from steelyard.ports import Warn, log_warning
from steelyard.project_checks import RAY_HERE, is_ray_address
from steelyard.settings import EngineSettings
from steelyard.store.ray_cluster.versions import installed_versions

_PATIENCE_S = 10.0
_SETTINGS = b"\4"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0" + _SETTINGS + bytes(5)
"""What a client of gRPC says first; a server answers with its settings."""
_WANTS_MORE = "; if it wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
_QUIET = {
    # Ray reports its use to its makers otherwise.
    "RAY_usage_stats_enabled": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions:
    """Which cluster, and what each worker needs of it."""

    address: str | None = None
    """Of its head, `host:port`; None for RAY_ADDRESS, or the cluster of this machine."""
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    """Such as CPU, GPU, or a name of the cluster's own; a CPU if nothing is said."""
    environment: Sequence[str] = ()
    """Names of variables that are sent to the workers, as keys of targets."""

    @classmethod
    def of(cls, engine: EngineSettings) -> RayOptions:
        """What the settings of a project say."""
        return cls(address=engine.address, resources=engine.resources, environment=engine.send_env)

    def needing(self, resources: Mapping[str, float]) -> RayOptions:
        """The same with what targets need, where these options do not say it by name."""
        return replace(self, resources={**resources, **self.resources})

    def actor_options(self) -> dict[str, Any]:
        """The options of an actor."""
        own = {name: count for name, count in self.resources.items() if name not in {"CPU", "GPU"}}
        return {
            "num_cpus": self.resources.get("CPU", 1),
            "num_gpus": self.resources.get("GPU", 0),
            "resources": own,
            "max_restarts": 0,
            "scheduling_strategy": "SPREAD",
        }

    def bundle(self) -> dict[str, float]:
        """What one worker takes."""
        return {"CPU": 1, **self.resources}

    def values(self) -> dict[str, str]:
        """The variables with their values."""
        missing = [name for name in self.environment if name not in os.environ]
        if missing:
            raise InvalidError(f"{missing[0]} is not set, and shall be sent to the workers of Ray")
        return {name: os.environ[name] for name in self.environment}


def connect(options: RayOptions) -> Any:
    """The module of ray, connected to a cluster."""
    ray = _ray()
    address = options.address or os.environ.get("RAY_ADDRESS") or "auto"
    _require_reachable(address)
    handler, is_ended = signal.getsignal(signal.SIGTERM), False
    try:
        ray.init(
            address=address,
            configure_logging=False,
            log_to_driver=False,
            logging_level="error",
            include_dashboard=False if address == "local" else None,
        )
    except Exception as error:  # noqa: BLE001 - Ray raises everything between ValueError and its own
        raise EngineAwayError(_reason(address, error)) from None
    except SystemExit as ended:
        is_ended = ended.code == signal.SIGTERM
        if not is_ended:
            raise
    finally:
        # Ray ends its driver at SIGTERM; a run is stopped in order instead.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
    if is_ended:
        signal.raise_signal(signal.SIGTERM)
        raise EngineAwayError(f"{address}: the process was asked to end while it connected")
    _silence(ray)
    return ray


def disconnect(ray: Any, options: RayOptions) -> None:
    """Let go of a cluster; one whose head is gone is not waited for."""
    if is_head_there(ray):
        hint(ray, options, 0)
        ray.shutdown()
    else:
        atexit.unregister(ray.shutdown)
        end_at_once_later("ray waits for its head, and crashes without it")


def _silence(ray: Any) -> None:
    """End the thread of Ray that prints on standard output, where a command's result stands."""
    with suppress(AttributeError):
        driver = ray._private.worker.global_worker  # noqa: SLF001 - there is no option for it
        driver.threads_stopped.set()
        driver.gcs_error_subscriber.close()


def reason_of(error: Exception) -> str:
    """What Ray says of an actor that was lost, or what its code has raised."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    # A traceback ends with what was raised.
    is_raised = "Traceback (most recent call last):" in str(error) or "::" in lines[0]
    return lines[-1 if is_raised else 0][:300]


def is_head_there(ray: Any) -> bool:
    """Whether the head of the cluster takes connections."""
    host, _, port = str(ray.get_runtime_context().gcs_address).rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S).close()
    except OSError:
        return False
    return True


def cluster_cpus(ray: Any) -> int:
    """How many CPUs all nodes have."""
    return int(ray.cluster_resources().get("CPU", 1))


def hint(ray: Any, options: RayOptions, count: int, warn: Warn = log_warning) -> None:
    """Ask a cluster that grows to have room for so many workers, and say if it has none now."""
    with suppress(Exception):  # a cluster that does not grow has nobody who would listen
        sdk = import_module("ray.autoscaler.sdk")
        sdk.request_resources(bundles=[options.bundle()] * count)
    if not count:
        return
    there = ray.cluster_resources()
    needed = options.bundle().items()
    room = min((int(there.get(name, 0) / much) for name, much in needed if much), default=count)
    if room < count:
        each = ", ".join(f"{name}={much:g}" for name, much in options.bundle().items())
        warn(
            f"the Ray cluster has room for {room} of {count} workers now, each with {each}; the "
            "others begin when it has more"
        )


def _ray() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ImportError:
        raise InvalidError("the engine ray needs an extra: pip install 'steelyard[ray]'") from None


def _require_reachable(address: str) -> None:
    """Fail at once where nobody listens; Ray itself tries for minutes."""
    if address in RAY_HERE:
        return
    if not is_ray_address(address):
        raise InvalidError(f"the address of a Ray cluster is host:port, not '{address}'")
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S) as head:
            if os.environ.get("RAY_USE_TLS") != "1":
                head.sendall(_HELLO)
                if head.recv(4)[3:] != _SETTINGS:
                    raise ConnectionError("something else listens there; 6379 is the usual port")
    except OSError as error:
        raise EngineAwayError(_reason(address, error)) from None


def _reason(address: str, error: Exception) -> str:
    said = " ".join(str(error).split())
    if "ersion mismatch" in said:
        here = installed_versions()
        return (
            f"the Ray cluster at {address} has other versions than this process (Python "
            f"{here.python}, ray {here.ray}): {said}"
        )
    if address == "auto":
        return (
            "no Ray cluster runs on this machine: start its head here, or give "
            f"{argument('address')} ({said[:300]})"
        )
    has_token = os.environ.get("RAY_AUTH_MODE") == "token"
    more = "" if isinstance(error, OSError) or has_token else _WANTS_MORE
    return f"no Ray cluster answers at {address}: {said[:600]}{more}"
