"""A body is never larger than it may be, however it is packed."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest

from steelyard.errors import TargetError
from steelyard.targets.response_body import MAX_BODY, unpacked

TEXT = b'{"said": "nine"}' * 50
PACKED = gzip.compress(TEXT, mtime=0)  # the names of tests must not change with the time


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def bomb() -> bytes:
    """128 megabytes of zeros in 128 kilobytes."""
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    return b"".join(packer.compress(zeros) for _ in range(128)) + packer.flush()


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (TEXT, "identity"),
        (PACKED, "gzip"),
        (PACKED, " GZip "),
        (PACKED, "x-gzip"),
        (zlib.compress(TEXT), "deflate"),
        (raw_deflate(TEXT), "deflate"),
    ],
)
def test_what_was_packed_comes_out_again(packed: bytes, encoding: str) -> None:
    assert unpacked(packed, encoding) == TEXT


@pytest.mark.parametrize(
    ("packed", "encoding", "code", "said"),
    [
        (b"plain", "gzip", "internal_error", "damaged or cut off"),
        (b"plain", "deflate", "internal_error", "damaged or cut off"),
        (PACKED[:-4], "gzip", "internal_error", "damaged or cut off"),
        (PACKED + b"junk", "gzip", "internal_error", "damaged or cut off"),
        (PACKED + PACKED[:9], "gzip", "internal_error", "cut off"),
        (raw_deflate(TEXT) * 2, "deflate", "internal_error", "damaged or cut off"),
        (b"", "gzip", "internal_error", "damaged or cut off"),
        (gzip.compress(bytes(MAX_BODY)) + gzip.compress(b"1"), "gzip", "bad_response", "larger"),
        (TEXT, "br", "bad_response", "packed as 'br'"),
        (TEXT, "gzip, gzip", "bad_response", "packed as 'gzip, gzip'"),
    ],
)
def test_what_cannot_be_unpacked_is_told(
    packed: bytes, encoding: str, code: str, said: str
) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        unpacked(packed, encoding)

    assert caught.value.code == code


@pytest.mark.parametrize("size", [1, 100, 799])
def test_gzip_of_several_members_is_all_of_them(size: int) -> None:
    members = [TEXT[start : start + size] for start in range(0, len(TEXT), size)]

    assert unpacked(b"".join(map(gzip.compress, members)), "gzip") == TEXT


def test_a_bomb_is_refused_before_it_fills_the_memory() -> None:
    packed = bomb()
    tracemalloc.start()
    with pytest.raises(TargetError, match="larger than 16 MB") as caught:
        unpacked(packed, "gzip")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert caught.value.code == "bad_response"
    assert peak < 3 * MAX_BODY
