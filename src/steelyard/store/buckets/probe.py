"""Whether a store keeps what it has: the manifest of a run must have one writer."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from steelyard.errors import ConfigError
from steelyard.store.buckets.bucket import Bucket

_WRITERS = 4


def require_conditional_writes(bucket: Bucket) -> None:
    """Refuse a store that overwrites an object which a writer asked it not to.

    Some ignore the condition, and some check it only between requests that do not overlap.
    """
    key = f"probe/{secrets.token_hex(8)}"
    texts = [f"writer {number}".encode() for number in range(_WRITERS)]
    try:
        with ThreadPoolExecutor(_WRITERS, thread_name_prefix="steelyard") as pool:
            won = sum(pool.map(partial(bucket.create, key), texts))
        if won != 1 or bucket.create(key, b"too late"):
            raise ConfigError(
                f"{bucket.address} is on a store that overwrites objects although it was asked "
                "not to (If-None-Match: *), so that two writers could seal one run; use AWS S3, "
                "MinIO, SeaweedFS 3.97 or later, or another store with conditional writes"
            )
    finally:
        bucket.delete([key])
