"""What is measured: a tool, how it is installed, and how it is run once."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.child import ROOT

FOLDER = ROOT / "bench" / "data" / "peers"
SAMPLES = "samples.jsonl"
CRITERION = "Says how long a book may be kept."
"""What a judge is told that a good answer does."""
WANTED = "three weeks"
"""What every answer of the endpoint contains."""
BASE = "bare_loop"
"""The tool that all others are compared with."""
_PROJECTS = Path(__file__).parent / "projects"


class CannotRunError(Exception):
    """A tool could not be installed, or did not do its job; says why in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run: so many samples, so many calls at once, in a fresh folder of its own."""

    samples: int
    at_once: int
    url: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Command:
    """What is started in the folder of a job."""

    words: tuple[str | Path, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that asks an endpoint for every sample and grades each answer."""

    name: str
    how: str
    """How it is run, in words its authors could repeat."""
    install: Callable[[], str]
    """Makes it ready to run and says its version."""
    command: Callable[[Job], Command]
    """Writes what it needs into the folder of the job."""
    passed: Callable[[Job, str], int]
    """How many samples it says have passed, from its folder and its output."""
    answers: tuple[str, ...] = ("weeks",)
    """What the endpoint answers to the calls that each sample takes, one after the other."""
    once: tuple[str, ...] = ()
    """What it answers to calls that a run makes once, however many samples there are."""

    def calls(self, samples: int) -> Counter[str]:
        """How often a run of so many samples gets each answer."""
        each = {name: samples * count for name, count in Counter(self.answers).items()}
        return Counter(each) + Counter(self.once)


def questions(samples: int) -> Iterator[str]:
    """The prompts, each a different one, so that no cache can answer."""
    return (f"For how long may a member keep book {number}?" for number in range(samples))


def copy_project(name: str, folder: Path) -> None:
    """Put the files that a tool is given by its user into the folder of a job."""
    shutil.copytree(_PROJECTS / name, folder, dirs_exist_ok=True)


def write_samples(folder: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write the samples in the form a tool reads."""
    with (folder / SAMPLES).open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


def plain_rows(samples: int) -> Iterator[Mapping[str, object]]:
    """Samples as most tools read them: an id, an input and the target."""
    for number, question in enumerate(questions(samples)):
        yield {"id": f"case-{number:06d}", "input": question, "target": WANTED}
