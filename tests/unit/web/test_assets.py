"""The files that pages load: small, our own, and the same colours in both dark blocks."""

from __future__ import annotations

import re

from steelyard.web.assets import assets

MAX_SCRIPT_BYTES = 60_000


def test_scripts_stay_small() -> None:
    """All modules together are below 60 kB, uncompressed."""
    sizes = {name: len(asset.data) for name, asset in assets().items() if name.endswith(".js")}
    assert sizes
    assert sum(sizes.values()) < MAX_SCRIPT_BYTES


def test_scripts_and_styles_name_no_other_host() -> None:
    """Nothing is loaded from elsewhere."""
    for asset in assets().values():
        assert b"http://" not in asset.data
        assert b"https://" not in asset.data


def test_scripts_write_no_html_and_no_style() -> None:
    """What a model wrote can never become markup: only text and parsed pages are inserted."""
    forbidden = re.compile(
        rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\.style\b"
    )
    for name, asset in assets().items():
        if name.endswith(".js"):
            assert not forbidden.search(asset.data), name


def test_the_two_dark_blocks_are_equal() -> None:
    """Dark by system and dark by choice have the same values."""
    text = assets()["tokens.css"].data.decode()
    blocks = re.findall(r"color-scheme: dark;(.*?)\}", text, re.DOTALL)
    assert len(blocks) == 2
    assert blocks[0].split() == blocks[1].split()
