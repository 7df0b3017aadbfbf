"""The page about the way of one record: it names every module that sees the record."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import steelyard

PAGE = (Path(__file__).parents[2] / "docs" / "record-walk.md").read_text(encoding="utf-8")
SOURCE = Path(steelyard.__file__).parent
WALK = re.findall(r"^\| \d+ \| `([^`]+)`", PAGE, re.MULTILINE)
ROW = '{"id": "a", "input": "say MARKED", "criteria": "c", "assertions": [%s]}\n'
CHECK = '{"type": "contains", "value": "say"}'
OTHERS = tuple(str(SOURCE / name) for name in ("cli", "formats", "model", "project_file.py"))
"""Helpers of every module, and the progress line."""
TRACED = f"""
import sys, threading
from steelyard.cli.main import main

def has(value, depth=0):
    if isinstance(value, str | bytes):
        return (b"MARKED" if isinstance(value, bytes) else "MARKED") in value
    if depth > 5 or type(value).__name__ == "Prepared":
        return False
    if isinstance(value, dict):
        return any(has(one, depth + 1) for one in list(value.values())[:40])
    if isinstance(value, list | tuple):
        return any(has(one, depth + 1) for one in value[:40])
    kind = type(value)
    if not kind.__module__.startswith("steelyard."):
        return False
    names = getattr(kind, "__dataclass_fields__", getattr(kind, "__struct_fields__", ()))
    return any(has(getattr(value, name, None), depth + 1) for name in names)

seen = {{}}

def look(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith({str(SOURCE)!r}):
        if code.co_filename not in seen and not code.co_filename.startswith({OTHERS!r}):
            given = code.co_varnames[: code.co_argcount]
            if any(has(frame.f_locals.get(one)) for one in given if one != "self"):
                seen[code.co_filename] = True

threading.setprofile(look)
sys.setprofile(look)
try:
    main()
finally:
    sys.setprofile(None)
    print("\\n".join(seen), file=sys.stderr)
"""


def on_page(name: str) -> str:
    """A module as the page writes it."""
    name = re.sub(r"^contracts/eval_cases/", "contracts/<contract>/", name)
    name = re.sub(r"^targets/echo", "targets/<provider>", name)
    return re.sub(r"^checks/must_contain_any", "checks/<kind>", name)


def test_every_module_that_sees_a_record_is_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(ROW % CHECK, encoding="utf-8")
    made = subprocess.run(
        [sys.executable, "-c", TRACED, "run", "cases.jsonl", "--target", "echo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    lines = [line for line in made.stderr.splitlines() if line.endswith(".py")]
    seen = [on_page(Path(line).relative_to(SOURCE).as_posix()) for line in lines]
    assert len(seen) > 30
    missing = [name for name in seen if f"`{name}`" not in PAGE]
    assert not missing, missing


def test_the_way_is_short_and_every_module_on_it_is_there() -> None:
    fixed = [name for name in WALK if "<" not in name]

    assert len(WALK) <= 30
    assert [name for name in fixed if not (SOURCE / name).is_file()] == []
