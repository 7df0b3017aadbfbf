"""Every file of the corpora and examples, broken in thousands of ways, is still only findings."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import ValidateOptions, validate

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("tests/corpus", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".json", ".jsonl", ".yaml", ".yml"} and ".findings" not in path.name
)
SECONDS = 120
TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\\ud800", b"\x00", b"\xff", b"\n", b"- "),
    *(
        b"&a ",
        b"*a",
        b"<<: ",
        b"!!int ",
        b"1e999",
        b"null",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"|\n",
    ),
)


def _mutated(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 6)):
        place = chance.randint(0, len(data))
        end = min(len(data), place + chance.choice((0, 1, 1, 2, 8, 40)))
        middle = chance.choice(
            (b"", chance.choice(TOKENS), data[place:end] * 2, chance.randbytes(2))
        )
        data = data[:place] + middle + data[end:]
    return data


@pytest.mark.soak
@pytest.mark.parametrize("part", [1, 2, 3])
def test_broken_files_give_findings_and_never_an_exception(
    tmp_path: Path, part: int, request: pytest.FixtureRequest
) -> None:
    """Two minutes each; a failure names the round, which the same --hypothesis-seed repeats."""
    chance = random.Random(f"{request.config.getoption('--hypothesis-seed')} {part}")
    until = time.monotonic() + SECONDS
    rounds = 0
    while time.monotonic() < until:
        source = chance.choice(SOURCES)
        broken = tmp_path / f"broken{source.suffix}"
        broken.write_bytes(_mutated(source.read_bytes()[:20_000], chance))
        report = validate(DiskWorkspace(tmp_path), [str(broken)], ValidateOptions()).files[0]
        rounds += 1

        assert report.total == report.accepted + report.rejected, f"round {rounds}"
        assert all(finding.message and finding.code for finding in report.findings)
    assert rounds > 1_000
