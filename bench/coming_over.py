"""Which share of public evaluations comes over: `python bench/coming_over.py FOLDER`.

FOLDER holds checkouts of the projects: `promptfoo`, `inspect_ai`, `evals` (of OpenAI), `agentv`,
and `lm-eval`, a folder of logs that lm-evaluation-harness wrote with `--log_samples`. What is
missing is left out. The `steelyard` that this Python imports is measured, so that
`PYTHONPATH=OTHER/src` measures another version. *Whole* means:

- promptfoo: every test came over with every prompt and every assertion, in a project that allows
  programs (`--no-commands` forbids them). Targets are not counted: one can be defined by hand.
- Inspect: every sample of a log is a case and a response, with all of its images. Samples with
  choices are cases of `legal_eval`.
- OpenAI Evals: every sample of an eval came over with its grader. The registry keeps its samples
  elsewhere: one made sample stands in for each pointer, so only the form is measured.
- agentv: an evaluation file loads without an error. Results: every line is a response.
- lm-eval: every sample of a task is a case and a response.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.__main__ import main as steelyard
from steelyard.errors import ParseError
from steelyard.formats.json_fields import object_list
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue

_PROVIDER = re.compile(r"(?:[^:]+: )?(?:providers|targets)\b|targets\.")
_SETTING = re.compile(r"(?:[^:]+: )?(?!tests|assert|threshold|scenarios|prompts)\w[\w.-]*$")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\d+|file://\S+|\S*/\S+|[\w.-]+\.\w{2,5}\b\S*")
_POINTER = b"version https://git-lfs"
_SAMPLE: dict[str, Any] = {
    "input": [
        {"role": "system", "content": "Reply."},
        {"role": "user", "content": "Question?"},
    ],
    "ideal": '{"a": 1}',
    "criteria": "c",
    "language": "x",
    "sample": [{"role": "system", "content": "q"}, {"role": "system", "content": "a"}],
}
_SHOWN = 40


class Share(NamedTuple):
    """What became of one evaluation."""

    name: str
    cases: int
    lost: tuple[str, ...]

    @property
    def state(self) -> str:
        """Whether all of it, some of it or nothing came over."""
        if not self.cases:
            return "nothing"
        return "partly" if self.lost else "whole"


def run(*words: str) -> tuple[dict[str, Any], str]:
    """What the command line replies as JSON, and its error."""
    out, err = io.BytesIO(), io.StringIO()
    stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    before, sys.argv = sys.argv, ["steelyard", *words, "--format", "json"]
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(err):
            steelyard()
    except SystemExit:
        pass
    finally:
        sys.argv = before
    try:
        return json.loads(out.getvalue()), err.getvalue()
    except ValueError:
        return {}, err.getvalue().strip().partition("\n")[0] or "no reply"


def converted(path: Path, made_from: str, to: str, *more: str) -> tuple[dict[str, Any], Path, str]:
    """The report of a conversion, the file that it wrote, and why there is none."""
    output = path.parent / f"steelyard-{to}.{'yaml' if to == 'eval_cases' else 'jsonl'}"
    output.unlink(missing_ok=True)
    report, why = run(
        *("convert", str(path), "--from", made_from, "--to", to, "-o", str(output), "--force"),
        *more,
    )
    return report, output, "" if report else why.rpartition(": ")[2]


def unwritten(report: dict[str, Any]) -> list[str]:
    """Why rows of the source were not written."""
    return [kind(row["reason"]) for row in report["unwritten"] if row["outcome"] != "skipped"]


def kind(reason: str) -> str:
    """A reason without the names and numbers that differ."""
    text = re.sub(r"^[^ ]+\.(?:ya?ml|json|csv|jsonl): \S+(?: × \S+)?: ", "", reason)
    text = re.sub(r"^[\w.-]+: (?=it is graded)|(?<=of its own), \S+", "", text)
    return _QUOTED.sub("…", text)[:110]


def promptfoo(root: Path, *, allow_commands: bool) -> Iterator[Share]:
    """Every configuration of the examples."""
    found = root.joinpath("examples") if root.joinpath("examples").is_dir() else root
    for path in sorted(found.rglob("promptfooconfig*")):
        if path.suffix in {".yaml", ".yml", ".json"}:
            allow = f"{{commands: {str(allow_commands).lower()}, folders: ['{root.as_posix()}']}}"
            (path.parent / "steelyard.yaml").write_text(f"allow: {allow}\n", encoding="utf-8")
            report, _, why = converted(path, "promptfoo", "eval_cases")
            name = str(path.relative_to(root))
            yield _configuration(name, report) if report else Share(name, 0, (kind(why),))


def _configuration(name: str, report: dict[str, Any]) -> Share:
    lost = unwritten(report)
    for change in report["fields"]:
        where = str(change["field"])
        if change["outcome"] != "lost" or where == "grading" or _PROVIDER.match(where):
            continue
        if _SETTING.fullmatch(where) and not where.endswith(("redteam", "defaultTest")):
            continue
        named = re.search(r"\(([^)]*)\)|^assert: (.*)", where)
        what = (named[1] or named[2]) if named else ""
        lost.append(f"{what} {kind(change['message'])}".strip())
    cases = report["rows"]["emitted"]
    return Share(name, cases, tuple(lost) if lost or cases else ("there are no tests",))


def inspect(root: Path) -> Iterator[Share]:
    """Every log that has samples."""
    for path in sorted(root.rglob("*")):
        samples = _samples(path) if path.suffix in {".eval", ".json"} else []
        if samples:
            yield _log(path, str(path.relative_to(root)), samples)


def _samples(path: Path) -> list[JsonObject]:
    """The samples of a log; none for any other file."""
    try:
        if path.suffix == ".json":
            log = _object(json.loads(path.read_bytes()))
            is_log = "model" in _object(log.get("eval")) and log.get("samples")
            return object_list(log, "samples") if is_log else []
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            return [json.loads(archive.read(name)) for name in names]
    except (ValueError, zipfile.BadZipFile):
        return []


def _log(path: Path, name: str, samples: list[JsonObject]) -> Share:
    lost: list[str] = []
    has_choices = any(sample.get("choices") for sample in samples)
    wanted = (
        ("legal_eval" if has_choices else "eval_cases", "input"),
        ("responses", "messages"),
    )
    written = 0
    for to, field in wanted:
        report, output, why = converted(path, "inspect", to)
        if not report or not report["rows"]["emitted"]:
            lost.append(f"{to}: {kind(why) if why else '; '.join(unwritten(report))}")
            continue
        written += report["rows"]["emitted"]
        lost += [f"{to}: {reason}" for reason in unwritten(report)]
        there, here = _images([sample.get(field) for sample in samples]), _images(_rows(output))
        if here != there:
            lost.append(f"{to}: {here} of {there} images")
    return Share(name, written, tuple(lost))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _rows(path: Path) -> JsonValue:
    data = path.read_bytes()
    if path.suffix == ".yaml":
        return parse_yaml(data).value
    return [json.loads(line) for line in data.splitlines()]


def _images(value: JsonValue) -> int:
    if isinstance(value, dict):
        return int(value.get("type") == "image") + sum(map(_images, value.values()))
    return sum(map(_images, value)) if isinstance(value, list) else 0


def openai_evals(root: Path) -> Iterator[Share]:
    """Every eval of the registry."""
    registry = next((path for path in (root / "evals/registry", root) if path.is_dir()), root)
    for pointer in registry.joinpath("data").rglob("*.jsonl"):
        if pointer.read_bytes().startswith(_POINTER):
            pointer.write_text(json.dumps(_SAMPLE) + "\n", encoding="utf-8")
    for path in sorted(registry.joinpath("evals").rglob("*.yaml")):
        try:
            stated = _object(parse_yaml(path.read_bytes()).value)
        except ParseError as wrong:
            yield Share(path.name, 0, (kind(str(wrong)),))
            continue
        for name, entry in stated.items():
            if "class" in _object(entry):
                yield _made(path, name, "openai-evals", ("eval_cases",), "--split", name)


def _made(path: Path, name: str, made_from: str, wanted: tuple[str, ...], *more: str) -> Share:
    """One source in each form that is wanted."""
    lost: list[str] = []
    written = 0
    for to in wanted:
        report, _, why = converted(path, made_from, to, *more)
        if not report:
            lost.append(kind(why))
            continue
        written += report["rows"]["emitted"]
        lost += unwritten(report)
        lost += [kind(one["message"]) for one in report["fields"] if one["outcome"] == "lost"]
    return Share(name, written, tuple(lost))


def agentv(root: Path) -> Iterator[Share]:
    """Every evaluation file of the examples."""
    (root / "steelyard.yaml").write_text("allow: {commands: true}\n", encoding="utf-8")
    for path in sorted(root.joinpath("examples").rglob("*")):
        if re.search(r"(?i)eval\.ya?ml$|^(suite|dataset).*\.ya?ml$", path.name):
            report, why = run("validate", str(path))
            yield _loaded(str(path.relative_to(root)), report, why)


def agentv_results(root: Path) -> Iterator[Share]:
    """Every file of results beside the examples."""
    for path in sorted(root.joinpath("examples").rglob("*.jsonl")):
        if re.search(r"\.baseline\.jsonl$|-results\.jsonl$", path.name):
            yield _made(path, str(path.relative_to(root)), "agentv", ("responses",))


def _loaded(name: str, report: dict[str, Any], why: str) -> Share:
    files = report.get("files", [])
    found = [one for file in files for one in file.get("findings", [])]
    errors = {
        f"{one['code']}: {kind(one['message'])}" for one in found if one["severity"] == "error"
    }
    records = sum(file["accepted"] for file in files)
    return Share(name, records, tuple(sorted(errors)) if report else (kind(why),))


def lm_eval(root: Path) -> Iterator[Share]:
    """Every log of samples."""
    for path in sorted(root.rglob("samples_*.jsonl")):
        yield _made(path, path.name, "lm-eval", ("eval_cases", "responses"))


def report(title: str, shares: list[Share]) -> Iterator[str]:
    """How many came over, and why the others did not."""
    states = Counter(share.state for share in shares)
    parts = [
        f"{state} {states[state]} ({states[state] / len(shares):.0%})"
        for state in ("whole", "partly", "nothing")
    ]
    cases = sum(share.cases for share in shares)
    yield f"{title}: {len(shares):,}: {', '.join(parts)}; {cases:,} rows"
    counted = Counter(reason for share in shares for reason in set(share.lost))
    yield from (f"{number:6}  {reason}" for reason, number in counted.most_common(_SHOWN))


def main() -> None:
    """Convert what is beneath a folder, in a copy, and print the shares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-commands", action="store_true", help="forbid programs of promptfoo")
    parser.add_argument("--list", action="store_true", help="name every evaluation")
    given = parser.parse_args()
    projects: dict[str, Callable[[Path], Iterator[Share]]] = {
        "promptfoo": lambda root: promptfoo(root, allow_commands=not given.no_commands),
        "inspect_ai": inspect,
        "evals": openai_evals,
        "agentv": agentv,
        "agentv results": agentv_results,
        "lm-eval": lm_eval,
    }
    titles = [title for title in projects if (given.folder / title.split()[0]).is_dir()]
    if not titles:
        sys.exit(f"{given.folder}: holds no folder named {', '.join(projects)}")
    for title in titles:
        with tempfile.TemporaryDirectory() as made:
            name = title.split()[0]
            root = Path(made, name).resolve()
            ignored = shutil.ignore_patterns("node_modules", ".git")
            shutil.copytree(given.folder / name, root, ignore=ignored, symlinks=True)
            shares = list(projects[title](root))
        if given.list:
            for share in shares:
                print(f"{share.name}: {share.state}; {'; '.join(dict.fromkeys(share.lost))}")
        print("\n".join(report(title, shares)) if shares else f"{title}: nothing is there")


if __name__ == "__main__":
    main()
