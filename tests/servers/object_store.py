"""A small store that speaks S3: objects, conditions, ranges, listings and uploads in parts.

It can ignore `If-None-Match`, refuse every key, or break a connection in the middle of a part.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "evals"
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


@dataclass
class ObjectStore:
    """What the server holds and how it behaves."""

    address: str = ""
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict[str, dict[int, bytes]])
    requests: list[str] = field(default_factory=list[str])
    """The method and key of each."""
    sizes: list[int] = field(default_factory=list[int])
    """The bytes of each body."""
    overwrites: bool = False
    """Whether conditions are ignored."""
    denies: bool = False
    breaks_parts: bool = False
    held_at: str | None = None
    """What is written to addresses with this in them is read and not kept."""
    is_holding: bool = False
    """Whether anything was."""
    hidden: set[str] = field(default_factory=set[str])
    """Objects that nobody sees before a conditional write of theirs was refused."""
    ages_s: dict[str, float] = field(default_factory=dict[str, float])
    """How long ago an object was written; all others just now."""
    lock: Lock = field(default_factory=Lock)

    def written_at(self, key: str) -> str:
        """When an object was written, as a listing says it."""
        when = datetime.fromtimestamp(time.time() - self.ages_s.get(key, 0.0), UTC)
        return when.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a client."""
        return client_environ(self.address)


def client_environ(address: str) -> dict[str, str]:
    """What a client of a store on this machine needs in its environment."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST",
        "AWS_SECRET_ACCESS_KEY": "only-for-tests-secret-key",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }


@contextmanager
def object_store() -> Generator[ObjectStore]:
    """A store that serves until the test leaves."""
    store = ObjectStore()

    class Handler(_Handler):
        held = store

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    store.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    held: ObjectStore
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Say nothing."""

    def do_PUT(self) -> None:
        key, query = self._asked()
        if "partNumber" in query and self.held.breaks_parts:
            self.connection.close()
            self.close_connection = True
            return
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.held.held_at and self.held.held_at in self.path:
            self.held.is_holding = True
            while self.held.held_at:
                time.sleep(0.01)
            self.close_connection = True
            return
        self.held.sizes.append(len(data))
        if self._is_refused():
            return
        if "partNumber" in query:
            self.held.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = data
        else:
            with self.held.lock:
                is_there = key in self.held.objects and not self.held.overwrites
                if is_there and self.headers.get("if-none-match") == "*":
                    self.held.hidden.discard(key)
                    self._answer(412, _error("PreconditionFailed"))
                    return
                self.held.objects[key] = data
        self._answer(200, b"", {"ETag": f'"{hashlib.md5(data).hexdigest()}"'})

    def do_POST(self) -> None:
        key, query = self._asked()
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self._is_refused():
            return
        if "uploads" in query:
            name = f"upload-{len(self.held.uploads)}"
            self.held.uploads[name] = {}
            text = f"<UploadId>{name}</UploadId><Bucket>{BUCKET}</Bucket><Key>{key}</Key>"
            self._answer(200, _xml("InitiateMultipartUploadResult", text))
        elif "uploadId" in query:
            parts = self.held.uploads.pop(query["uploadId"][0])
            self.held.objects[key] = b"".join(parts[number] for number in sorted(parts))
            self._answer(200, _xml("CompleteMultipartUploadResult", "<ETag>whole</ETag>"))
        else:  # several keys to delete
            keys = [one.decode() for one in re.findall(rb"<Key>(.*?)</Key>", data)]
            for one in keys:
                self.held.objects.pop(one, None)
            gone = "".join(f"<Deleted><Key>{one}</Key></Deleted>" for one in keys)
            self._answer(200, _xml("DeleteResult", gone))

    def do_DELETE(self) -> None:
        key, _ = self._asked()
        if not self._is_refused():
            self.held.objects.pop(key, None)
            self._answer(204, b"")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        key, query = self._asked()
        if self._is_refused():
            return
        if "list-type" in query:
            prefix = query.get("prefix", [""])[0]
            rows = "".join(
                f"<Contents><Key>{escape(one)}</Key><Size>{len(data)}</Size><ETag>e</ETag>"
                f"<LastModified>{self.held.written_at(one)}</LastModified></Contents>"
                for one, data in sorted(self.held.objects.items())
                if one.startswith(prefix)
            )
            self._answer(200, _xml("ListBucketResult", f"{rows}<IsTruncated>false</IsTruncated>"))
            return
        data = self.held.objects.get(key)
        if data is None or key in self.held.hidden:
            self._answer(404, _error("NoSuchKey"))
            return
        headers = {
            "ETag": f'"{hashlib.md5(data).hexdigest()}"',
            "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
        }
        asked = _RANGE.fullmatch(self.headers.get("range", ""))
        if asked:
            begin, end = int(asked[1]), min(int(asked[2]), len(data) - 1)
            headers["Content-Range"] = f"bytes {begin}-{end}/{len(data)}"
            self._answer(206, data[begin : end + 1], headers)
        else:
            self._answer(200, data, headers)

    def _asked(self) -> tuple[str, dict[str, list[str]]]:
        found = urlsplit(self.path)
        key = unquote(found.path).removeprefix(f"/{BUCKET}").removeprefix("/")
        self.held.requests.append(f"{self.command} {key}")
        return key, parse_qs(found.query, keep_blank_values=True)

    def _is_refused(self) -> bool:
        if self.held.denies:
            self._answer(403, _error("AccessDenied"))
        elif not unquote(self.path).startswith(f"/{BUCKET}"):
            self._answer(404, _error("NoSuchBucket"))
        else:
            return False
        return True

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _xml(name: str, content: str) -> bytes:
    space = "http://s3.amazonaws.com/doc/2006-03-01/"
    return f'<?xml version="1.0"?><{name} xmlns="{space}">{content}</{name}>'.encode()


def _error(code: str) -> bytes:
    return _xml("Error", f"<Code>{code}</Code><Message>{code}</Message>")
