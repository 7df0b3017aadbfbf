"""Mend a text that is almost a JSON object: fences, words around it, comments, wrong quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from typing import NamedTuple

from steelyard.errors import ParseError
from steelyard.formats.braces import closed_at
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import parse_json
from steelyard.judging.reply_json import replied_json

MOST_CHARACTERS = 2_000_000
"""A longer text is not mended: nobody pastes one."""
MOST_ROWS = 1_000
"""More rows than these are not mended one by one."""
# A string is one step, so that an address in it is no comment.
_STEP = re.compile(
    r'"(?:[^"\\\n]++|\\.)*+"|\u201c[^\u201d\n]*+\u201d|\'(?:[^\'\\\n]++|\\.)*+\''
    r"|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/",
    re.DOTALL,
)
_FENCE = "```"
_ALMOST = "almost JSON: quotes, commas or brackets in them are wrong"


class MendedText(NamedTuple):
    """JSON that a text means, and what kept the text from being it."""

    text: str
    why: str
    is_cut: bool = False
    """Whether the text ends before the object does, so that something is missing."""


def mended_json(text: str) -> MendedText | None:
    """The object that a text means; None where it is JSON already, or no object beyond doubt."""
    if not text.strip() or len(text) > MOST_CHARACTERS:
        return None
    if _is_json(text):
        return _unquoted(text)
    bare = _without_comments(text)
    for tried in dict.fromkeys((text, bare)):
        found = replied_json(tried)
        if found.fault is None and isinstance(found.value, dict):
            written = json.dumps(found.value, ensure_ascii=False, indent=2)
            is_cut = found.rung == "repaired" and _is_cut(bare)
            why = _why(text, found.rung, had_comments=tried != text, is_cut=is_cut)
            return MendedText(f"{written}\n", f"{why}.", is_cut)
    return None


def unwrapped_json(text: str, fields: Container[str]) -> MendedText | None:
    """The object in a member of another that has nothing else, where it has one of the fields."""
    if len(text) > MOST_CHARACTERS or not _is_json(text):
        return None
    whole = parse_json(without_bom(text.encode("utf-8", "backslashreplace")))
    if not isinstance(whole, dict) or len(whole) != 1:
        return None
    name, inner = next(iter(whole.items()))
    if not isinstance(inner, dict) or name in fields or not any(one in fields for one in inner):
        return None
    written = json.dumps(inner, ensure_ascii=False, indent=2)
    return MendedText(f"{written}\n", f'It stands within "{name[:40]}"; leave that out.')


def mended_rows(text: str) -> MendedText | None:
    """What a dataset means that is almost JSON or JSON lines, or stands in a code fence."""
    if len(text) > MOST_CHARACTERS:
        return None
    if (inner := _fenced(text)) is not None:
        mended = mended_rows(inner)
        why = "The dataset stands in a code fence."
        return mended._replace(why=f"{why} {mended.why}") if mended else MendedText(inner, why)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(_is_row(line) for line in lines):
        return mended_json(text)
    wrong = [number for number, line in enumerate(lines) if not _is_json(line)]
    if not wrong or len(wrong) > MOST_ROWS:
        return None
    for number in wrong:
        mended = mended_json(lines[number])
        if mended is None:
            return None
        lines[number] = json.dumps(json.loads(mended.text), ensure_ascii=False)
    return MendedText(
        "\n".join(lines) + "\n", f"{len(wrong):,} of {len(lines):,} rows are {_ALMOST}."
    )


def _fenced(text: str) -> str | None:
    """What stands in the only code fence of a text; None without one, or with nothing in it."""
    start = text.find(_FENCE)
    begin = text.find("\n", start) + 1
    end = text.find(f"\n{_FENCE}", begin - 1)
    if start < 0 or not begin or end < begin or text[:start].rpartition("\n")[2].strip():
        return None
    language, rest = text[start + len(_FENCE) : begin], text[end + 1 + len(_FENCE) :]
    is_only = _FENCE not in rest and (not language.strip() or language.strip().isalnum())
    inner = text[begin:end].strip("\n")
    return f"{inner}\n" if is_only and inner.strip() else None


def _is_row(line: str) -> bool:
    """Whether a line is an object, right or almost right, perhaps with a comma after it."""
    bare = line.strip().removesuffix(",").rstrip()
    return bare.startswith("{") and bare.endswith("}")


def _unquoted(text: str) -> MendedText | None:
    """The object in a JSON string, as assistants send it; None where it is no such string."""
    value = parse_json(without_bom(text.encode("utf-8", "backslashreplace")))
    if not isinstance(value, str) or "{" not in value:
        return None
    if _is_json(value):
        written = json.dumps(json.loads(value), ensure_ascii=False, indent=2) + "\n"
        return MendedText(written, "The JSON stands in a quoted string.")
    inner = mended_json(value)
    return inner and inner._replace(why=f"The JSON stands in a quoted string. {inner.why}")


def _why(text: str, rung: str, *, had_comments: bool, is_cut: bool) -> str:
    """What stood in the way, in words."""
    before = text.partition("{")[0].strip()
    reasons: list[str] = []
    if _FENCE in before:
        reasons.append("The JSON stands in a code fence")
    elif before or (not is_cut and text.rpartition("}")[2].strip()):
        reasons.append("There is other text around the JSON")
    if had_comments:
        reasons.append("it has comments" if reasons else "The JSON has comments")
    if is_cut:
        wrong = "the text was cut off, and what followed is missing"
        reasons.append(wrong if reasons else f"{wrong[0].upper()}{wrong[1:]}")
    elif rung == "repaired":
        wrong = "quotes, commas or brackets in it are wrong"
        reasons.append(wrong if reasons else f"This is almost JSON: {wrong}")
    return "; ".join(reasons) or "This is almost JSON"


def _is_cut(text: str) -> bool:
    """Whether a text ends within its object: braces or brackets are open."""
    start = text.find("{")
    is_open = any(text.count(begin) > text.count(end) for begin, end in ("{}", "[]"))
    return start >= 0 and is_open and closed_at(text, start) is None


def _without_comments(text: str) -> str:
    """The text from its first brace on, comments outside of strings taken out."""
    head, brace, rest = text.partition("{")
    return head + brace + _STEP.sub(_kept, rest)


def _kept(found: re.Match[str]) -> str:
    return "" if found[0].startswith(("//", "/*")) else found[0]


def _is_json(text: str) -> bool:
    try:
        parse_json(without_bom(text.encode("utf-8", "backslashreplace")))
    except ParseError:
        return False
    return True
