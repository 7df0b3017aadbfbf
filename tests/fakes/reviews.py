"""Runs and a project with annotations, written down in a test."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fakes.clock import ManualClock
from fakes.definitions import DefinitionProject
from fakes.manifests import manifest_row
from fakes.metrics import write_metrics
from fakes.review_project import QUESTIONS
from fakes.stores import open_store
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import NotFoundError
from steelyard.reports.judges.labels import ImportedLabels
from steelyard.store.annotations import AnnotationStore
from steelyard.usecases.review.import_labels import LabelFile, import_labels
from steelyard.usecases.review.label_tables import TableOptions
from steelyard.usecases.review.ports import ReviewPorts

RUN = "run_1"
DESK = "rubric/desk-v1"
PATTERNS = ("email", "phone")
SECRET = "the-secret-key-8931"


def check(answers: Any = None, **other: Any) -> dict[str, Any]:
    """What a check found; by default a question rubric's."""
    made: dict[str, Any] = {
        "check": "questions",
        "kind": "questionnaire",
        "score": 1.0,
        "passed": True,
        "status": "scored",
        "judge": "judge/questionnaire@1.0.0",
        "answers": answers,
        "details": {},
    }
    return {**made, **other}


def response(index: int, *checks: dict[str, Any], **other: Any) -> dict[str, Any]:
    """A row of predictions about a response of two turns."""
    made: dict[str, Any] = {
        "index": index,
        "record_id": f"r{index}",
        "record_sha256": f"hash-{index}",
        "repeat": 0,
        "status": "evaluated",
        "evaluator_scores": list(checks),
        "trace": {"messages": [{"role": "assistant", "content": "Well."}] * 2},
        "score": 1.0,
        "passed": True,
    }
    return {**made, **other}


def failed(index: int, **other: Any) -> dict[str, Any]:
    """A row of a record that nobody answered."""
    return response(index, status="timeout", trace=None, score=None, passed=None, **other)


class ReviewProject(DefinitionProject):
    """A folder with rubrics, sealed runs and a store of annotations."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("rubrics/desk-v1.json", json.dumps(QUESTIONS))
        self.engine = open_store(root / "steelyard.db")

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def run(
        self,
        rows: Sequence[dict[str, Any]],
        run_id: str = RUN,
        rubrics: Iterable[str] = (DESK,),
        **manifest: Any,
    ) -> Path:
        """A sealed run's folder, as far as review reads it."""
        folder = self.root / "runs" / run_id
        folder.mkdir(parents=True)
        graded = [{"rubric": name} for name in rubrics]
        said = manifest_row(run_id=run_id, rubrics=graded, **manifest)
        (folder / "run_manifest.json").write_text(json.dumps(said), encoding="utf-8")
        write_metrics(folder)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "predictions.jsonl").write_text(lines, encoding="utf-8")
        return folder

    def folder_of(self, name: str) -> Path:
        """The folder of a run."""
        path = self.root / "runs" / name
        if not path.is_dir():
            raise NotFoundError(f"no run '{name}' in this project")
        return path

    @property
    def store(self) -> AnnotationStore:
        """The annotations."""
        return AnnotationStore(self.engine)

    @property
    def ports(self) -> ReviewPorts:
        """What review needs, with the files as they stand now."""
        return ReviewPorts(
            annotations=self.store,
            references=self.references,
            run_folder=self.folder_of,
            known_run=self.folder_of,
            redactor=lambda: Redactor((SECRET,), PATTERNS),
            clock=ManualClock(),
        )

    def bring_table(self, text: str, **options: Any) -> ImportedLabels:
        """What becomes of the rows of a CSV file; `run` is that of the labels."""
        run = options.pop("run", None)
        file = LabelFile(io.BytesIO(text.encode()), "labels.csv", TableOptions(**options))
        return import_labels(self.ports, file, run=run)

    def bring(self, rows: Iterable[Any], **options: Any) -> ImportedLabels:
        """What becomes of rows that are brought in."""
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        stream = io.BytesIO("\n".join(lines).encode())
        return import_labels(self.ports, LabelFile(stream, "labels.jsonl"), **options)


def label(index: int, annotator: str = "ann", **more: Any) -> dict[str, Any]:
    """A row of a label about a response of the run."""
    return {
        "record_id": f"r{index}",
        "run_id": RUN,
        "rubric": DESK,
        "annotator": annotator,
        "exposure": "blind",
        **more,
    }


def says(turns: dict[str, Any] | None = None, **trace: Any) -> dict[str, Any]:
    """Answers about the trace, and about turns."""
    return {"trace": trace, "turns": turns or {}}
