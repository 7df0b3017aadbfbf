"""Run one Python assertion of promptfoo on one answer.

In: a JSON object on stdin with `candidate_answer`, `question` and `config`.
Out: a JSON object on stdout with `score`, `verdict` and `reasoning`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import textwrap
from pathlib import Path
from typing import Any


def inline(code: str) -> Any:
    """The function that code stands for: one expression, or the lines of a body."""
    text = textwrap.dedent(code).strip()
    body = text if "\n" in text or text.startswith("return") else f"return ({text})"
    names: dict[str, Any] = {"json": json}
    exec(f"def assertion(output, context):\n{textwrap.indent(body, '    ')}\n", names)  # noqa: S102
    return names["assertion"]


def from_file(file: str, name: str) -> Any:
    """A function of a file."""
    path = Path(file).resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def answered(data: dict[str, Any]) -> Any:
    """The answer; one of tool calls alone is their list, in the forms of OpenAI and of Gemini."""
    messages = data.get("output_messages", [])
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    text = data["candidate_answer"]
    return text if text.strip() or not calls else [called(call) for call in calls]


def called(call: dict[str, Any]) -> dict[str, Any]:
    """One tool call in both forms."""
    name, given = call["tool"], call.get("input", {})
    arguments = given if isinstance(given, str) else json.dumps(given)
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        "functionCall": {"name": name, "args": given},
    }


def graded(result: Any, threshold: float | None, *, is_binary: bool = False) -> dict[str, Any]:
    """What an assertion returned, as a code judge says it."""
    if isinstance(result, dict):
        given: dict[str, Any] = {**result}
        passed = bool(given.get("pass", given.get("pass_", given.get("passed"))))
        score, reason = float(given.get("score", passed)), str(given.get("reason", ""))
        passed = passed and (threshold is None or score >= threshold)
    elif isinstance(result, bool | int | float):
        score, reason = float(result), f"returned {result}"
        passed = score > 0 if threshold is None else score >= threshold
    else:
        raise SystemExit(f"an assertion returns a bool, a number or a dict, not {result!r}")
    score = float(passed) if is_binary else score
    return {"score": score, "verdict": "pass" if passed else "fail", "reasoning": reason}


def main() -> None:
    """Read the answer, run the assertion, write the result."""
    data = json.load(sys.stdin)
    config = data["config"]
    file = config.get("file")
    name = config.get("function", "get_assert")
    assertion = from_file(file, name) if file else inline(config["code"])
    context = {
        "vars": config["vars"],
        "prompt": data.get("question"),
        "config": config.get("config"),
        "test": {"vars": config["vars"]},
    }
    result = assertion(answered(data), context)
    made = graded(result, config.get("threshold"), is_binary=config.get("binary", False))
    sys.stdout.write(json.dumps(made))


if __name__ == "__main__":
    main()
