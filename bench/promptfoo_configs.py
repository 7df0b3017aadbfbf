"""Which share of promptfoo configurations comes over: `python bench/promptfoo_configs.py FOLDER`.

Every `promptfooconfig*.yaml` or `.json` beneath the folder is converted in a copy of the folder,
in a project that allows programs; `--no-commands` leaves them out. A configuration is *whole*
when every test came over with every prompt and every assertion. Whether all of its providers
became targets is counted beside it: a target can be defined by hand, a lost assertion cannot.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import SteelyardError
from steelyard.model.conversion import Conversion
from steelyard.project import open_project
from steelyard.usecases.convert.convert import ConvertOptions, convert

_PROVIDER = re.compile(r"[^:]+: (providers|targets)\b|targets\.")
_SETTING = re.compile(r"[^:]+: \w[\w.-]*$")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\d+|file://\S+|[\w./-]+\.(?:js|cjs|mjs|ts|py)\S*")


class Share(NamedTuple):
    """What became of one configuration."""

    path: Path
    cases: int
    lost: tuple[str, ...]
    """Why tests, prompts or assertions are missing."""
    providers: tuple[str, ...]
    settings: tuple[str, ...]
    """Settings of the configuration that no dataset has."""
    replaced: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing of what is asked and graded is missing."""
        return bool(self.cases) and not self.lost


def share_of(path: Path, root: Path, *, allow_commands: bool) -> Share:
    """Convert one configuration and look at what was lost."""
    project = path.parent / "steelyard.yaml"
    project.write_text(
        f"allow: {{commands: {str(allow_commands).lower()}, folders: ['{root.as_posix()}']}}\n",
        encoding="utf-8",
    )
    options = ConvertOptions(
        source=path,
        to="eval_cases",
        output=path.parent / "steelyard-cases.yaml",
        made_from="promptfoo",
        force=True,
    )
    ports = open_project(path.parent).convert_ports(force=True, show=lambda _: None)
    try:
        conversion = convert(ports, options)
    except SteelyardError as error:
        return Share(path, 0, (_kind(str(error).rpartition(": ")[2]),), (), (), 0)
    return _share(path, conversion)


def _share(path: Path, made: Conversion) -> Share:
    lost = [_kind(rows.reason) for rows in made.unwritten if rows.outcome != "skipped"]
    providers: list[str] = []
    settings: list[str] = []
    for field in made.fields:
        if not field.is_lost or field.field == "grading":
            continue
        if _PROVIDER.match(field.field):
            providers.append(_kind(field.message))
        elif _SETTING.match(field.field) and ": tests" not in field.field:
            settings.append(field.field.rpartition(" ")[2])
            if field.field.endswith(("redteam", "defaultTest")):
                lost.append(_kind(field.message))
        else:
            kind = re.search(r"\(([^)]*)\)", field.field)
            lost.append(f"{kind[1] if kind else ''} {_kind(field.message)}".strip())
    replaced = sum(not field.is_lost for field in made.fields)
    if not made.emitted and not lost:
        lost.append("there are no tests")
    return Share(path, made.emitted, tuple(lost), tuple(providers), tuple(settings), replaced)


def _kind(reason: str) -> str:
    """A reason without the names and numbers that differ."""
    text = re.sub(r"^[^ ]+\.(?:ya?ml|json|csv|jsonl): \S+(?: × \S+)?: ", "", reason)
    return _QUOTED.sub("…", text)[:110]


def _report(shares: list[Share]) -> Iterator[str]:
    count = len(shares)
    whole = [share for share in shares if share.is_whole]
    same = [share for share in whole if not share.replaced]
    asked = [share for share in whole if not share.providers]
    nothing = [share for share in shares if not share.cases]
    for number, words in (
        (len(whole), "whole: every test, prompt and assertion came over"),
        (len(same), "of these without anything replaced or run as a program"),
        (len(asked), "of the whole ones with every provider as a target"),
        (len(nothing), "brought no case"),
    ):
        yield f"{number:4} of {count} ({number / count:.1%})  {words}"
    yield f"{sum(share.cases for share in shares):,} cases"
    for title, part in (
        ("why the rest is not whole", [set(share.lost) for share in shares]),
        ("providers without a target", [set(share.providers) for share in shares]),
    ):
        yield f"\n{title} (configurations)"
        counted = Counter(reason for reasons in part for reason in reasons)
        yield from (f"{number:5}  {reason}" for reason, number in counted.most_common(60))


def main() -> None:
    """Convert every configuration beneath a folder and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-commands", action="store_true")
    parser.add_argument("--list", action="store_true", help="name the configurations")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = Path(made, "copy").resolve()
        shutil.copytree(given.folder, root, ignore=shutil.ignore_patterns("node_modules", ".git"))
        shares = [
            share_of(path, root, allow_commands=not given.no_commands)
            for path in sorted(root.rglob("promptfooconfig*"))
            if path.suffix in {".yaml", ".yml", ".json"}
        ]
    if not shares:
        sys.exit(f"{given.folder}: no promptfooconfig*.yaml or .json")
    if given.list:
        for share in shares:
            state = "whole" if share.is_whole else "; ".join(dict.fromkeys(share.lost))
            print(f"{share.path.relative_to(root)}: {share.cases} cases, {state}")
    print("\n".join(_report(shares)))


if __name__ == "__main__":
    main()
