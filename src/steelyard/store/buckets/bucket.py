"""The objects beneath a prefix of an S3 bucket; whatever the store refuses is said in one line.

Credentials, region and endpoint come from the environment, as obstore reads them, and are shown
nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from steelyard.errors import BucketAwayError, ConfigError, NotFoundError, UnavailableError
from steelyard.project_checks import bucket_parts

try:
    import obstore
    from obstore import exceptions as refusals
    from obstore.store import S3Store
except ImportError:
    raise ConfigError("s3:// addresses need obstore: pip install 'steelyard[s3]'") from None

if TYPE_CHECKING:
    from obstore import ObjectMeta, WritableFile

SCHEME = "s3://"
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PLAIN = "AWS_ALLOW_HTTP"
_YES = ("1", "true", "yes", "on")
_PART = 8 << 20
"""The bytes of one request: what is held in memory is a few of them, however large an object."""
_PARTS_AT_ONCE = 2
STREAMED_PART = 5 << 20
"""The same for a file that is uploaded while it is written: S3 takes no smaller parts, and a run
writes several files at a time."""
_MOST_PARTS = 9_000
_RETRY_S = 30
_SAID = 300
"""The most characters of a message of the store."""
_AWAY = re.compile(r"error sending request|HTTP error|status code: 5\d\d|: 5\d\d ")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_CREDENTIALS_HOSTS = ("169.254.169.254", "169.254.170.2")


class ListedObject(NamedTuple):
    """An object of a listing."""

    key: str
    size: int
    written_at: float
    """In seconds since 1970, by the clock of the store."""


class ObjectVersion(NamedTuple):
    """One state of an object."""

    tag: str | None
    size: int


class BucketPlace(NamedTuple):
    """An address taken apart."""

    bucket: str
    path: str


def place_of(address: str) -> BucketPlace:
    """The bucket and path of an address such as s3://bucket/path."""
    parts = bucket_parts(address)
    if parts is None:
        shown = "an address with a user or password" if "@" in address else f"'{address}'"
        raise ConfigError(f"{shown} is no address of a bucket; write s3://bucket/path")
    return BucketPlace(*parts)


class Bucket:
    """The objects whose keys begin with a prefix."""

    def __init__(self, address: str, environ: Mapping[str, str]) -> None:
        self._place = place_of(address)
        self.address = f"{SCHEME}{self._place.bucket}/{self._place.path}".rstrip("/")
        self._endpoint = _endpoint(environ)
        self._store = _store(self._place.bucket, self._endpoint, environ)

    def create(self, key: str, data: bytes) -> bool:
        """Write an object that must not be there yet; whether it is ours."""
        with self.translated(key):
            try:
                obstore.put(self._store, self._at(key), data, mode="create", use_multipart=False)
            except refusals.AlreadyExistsError:
                # A try whose answer was lost may have been the one that won.
                return self.read(key) == data
        return True

    def write(self, key: str, data: bytes) -> None:
        """Write an object, whatever was there."""
        with self.translated(key):
            obstore.put(self._store, self._at(key), data, use_multipart=False)

    def upload(self, key: str, path: Path) -> None:
        """Write a file part by part, in constant memory."""
        with self.translated(key), path.open("rb") as stream:
            obstore.put(
                self._store,
                self._at(key),
                stream,
                chunk_size=part_size(path.stat().st_size),
                max_concurrency=_PARTS_AT_ONCE,
            )

    def stream(self, key: str) -> UploadStream:
        """An object that is written while it is uploaded."""
        return UploadStream(self, key)

    def read(self, key: str) -> bytes | None:
        """A small object; None where there is none."""
        with self.translated(key):
            try:
                return bytes(obstore.get(self._store, self._at(key)).bytes())
            except FileNotFoundError as error:
                _require_bucket(error)
                return None

    def size(self, key: str) -> int | None:
        """The bytes of an object; None where there is none."""
        found = self.version(key)
        return found.size if found else None

    def version(self, key: str) -> ObjectVersion | None:
        """What tells an object from those that had its key before; None where there is none."""
        with self.translated(key):
            try:
                found = obstore.head(self._store, self._at(key))
            except FileNotFoundError as error:
                _require_bucket(error)
                return None
        return ObjectVersion(found["e_tag"], found["size"])

    def part(self, key: str, begin: int, end: int) -> bytes:
        """A range of an object."""
        with self.translated(key):
            return bytes(obstore.get_range(self._store, self._at(key), start=begin, end=end))

    def parts(self, key: str, size: int) -> Iterator[bytes]:
        """An object of a size, each part asked for by itself: no request lasts long."""
        for begin in range(0, size, _PART):
            yield self.part(key, begin, min(size, begin + _PART))

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """The objects in a folder, with those in the folders beneath it."""
        base = self._at("")
        with self.translated(prefix):
            objects: Iterator[Sequence[ObjectMeta]] = self._store.list(  # pyright: ignore[reportUnknownMemberType] - it may return Arrow
                self._at(prefix), chunk_size=1000
            )
            for found in objects:
                for one in found:
                    yield ListedObject(
                        one["path"].removeprefix(f"{base}/" if base else ""),
                        one["size"],
                        one["last_modified"].timestamp(),
                    )

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; one that is not there is no error."""
        for key in keys:
            with self.translated(key):
                try:
                    obstore.delete(self._store, self._at(key))
                except FileNotFoundError as error:
                    _require_bucket(error)

    def opened(self, key: str) -> WritableFile:
        """What uploads a part whenever it is full."""
        return obstore.open_writer(
            self._store, self._at(key), buffer_size=STREAMED_PART, max_concurrency=1
        )

    def _at(self, key: str) -> str:
        return "/".join(filter(None, (self._place.path, key.strip("/"))))

    @contextmanager
    def translated(self, key: str) -> Generator[None]:
        """What the store refuses, in words; none of them is a credential."""
        try:
            yield
        except (refusals.PermissionDeniedError, refusals.UnauthenticatedError) as error:
            code = _code(error)
            raise UnavailableError(
                f"{self.address}: access to {key} was denied{code}; the credentials of the "
                "environment need to get, put, list and delete objects there"
            ) from None
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise UnavailableError(
                    f"{self.address}: there is no bucket {self._place.bucket} at "
                    f"{self._endpoint or 'AWS'}; create it, or correct the address"
                ) from None
            raise NotFoundError(f"{self.address}/{key} is not there") from None
        except (refusals.BaseError, NotImplementedError) as error:
            is_away = _AWAY.search(str(error)) and not _has_no_credentials(error)
            kind = BucketAwayError if is_away else UnavailableError
            raise kind(f"{self.address}: {self._said(error)}") from None

    def _said(self, error: BaseException) -> str:
        text = str(error)
        if _has_no_credentials(error):
            return (
                "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                "give the machine a role"
            )
        if code := _code(error):
            return f"the store at {self._endpoint or 'AWS'} refused a request{code}"
        if "error sending request" in text or "HTTP error" in text:
            return f"the store at {self._endpoint or 'AWS'} cannot be reached; try again later"
        return text.partition("\n")[0][:_SAID]


class UploadStream:
    """An object that nobody sees before it is whole; one that never ends is parts of an upload."""

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket = bucket
        self._key = key
        self._size = 0
        self._file = bucket.opened(key)

    def write(self, data: bytes) -> bool:
        """Append; False where the store would take no more parts of this size."""
        self._size += len(data)
        if self._size > STREAMED_PART * _MOST_PARTS:
            return False
        with self._translated():
            self._file.write(data)
        return True

    def end(self) -> None:
        """Make it an object."""
        with self._translated():
            self._file.close()

    @contextmanager
    def _translated(self) -> Generator[None]:
        """What the store refuses; a file of obstore raises errors of files, without a cause."""
        with self._bucket.translated(self._key):
            try:
                yield
            except OSError as error:
                raise refusals.GenericError(str(error)) from None


def part_size(size: int) -> int:
    """The bytes of a part of an upload: S3 takes 10,000 parts at most."""
    return max(_PART, -(-size // _MOST_PARTS))


def _has_no_credentials(error: BaseException) -> bool:
    """Whether they were looked for at the addresses that know the role of a machine."""
    return any(host in str(error) for host in _CREDENTIALS_HOSTS)


def _code(error: BaseException) -> str:
    found = _CODE.search(str(error))
    return f" ({found[1]})" if found else ""


def _require_bucket(error: FileNotFoundError) -> None:
    if "NoSuchBucket" in str(error):
        raise error


def _endpoint(environ: Mapping[str, str]) -> str | None:
    name = next((name for name in _ENDPOINTS if environ.get(name)), "")
    found = environ.get(name)
    if found and "@" in found:
        # It may hold a secret, so that it is not repeated.
        raise ConfigError(
            f"{name} holds a user or password; take it out, and set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY"
        )
    if found and found.startswith("http:") and environ.get(_PLAIN, "").lower() not in _YES:
        raise ConfigError(
            "the endpoint of the bucket is http, which anyone on the way can read and change; use "
            f"https, or set {_PLAIN}=true for a network of your own"
        )
    return found


def _store(bucket: str, endpoint: str | None, environ: Mapping[str, str]) -> S3Store:
    is_plain = environ.get(_PLAIN, "").lower() in _YES
    return S3Store(
        bucket,
        config={"endpoint": endpoint} if endpoint else {},
        client_options={"allow_http": is_plain, "connect_timeout": timedelta(seconds=5)},
        retry_config={
            "max_retries": 6,
            "backoff": {"max_backoff": timedelta(seconds=3)},
            "retry_timeout": timedelta(seconds=_RETRY_S),
        },
    )
