"""Joins the use cases of review with their adapters, as `wiring` does for the others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steelyard import results_wiring, target_wiring, wiring
from steelyard.errors import NotFoundError
from steelyard.store.private_files import STEELYARD_FOLDER

if TYPE_CHECKING:
    from steelyard.store.drafts import FileDraft
    from steelyard.usecases.review.ports import ReviewPorts


def review_ports(near: Path | None = None) -> ReviewPorts:
    """What review needs, in the project of a file or of the current folder."""
    from steelyard.store.annotations import AnnotationStore
    from steelyard.usecases.review.ports import ReviewPorts

    found = wiring.project(near)
    store = wiring.run_store(found.root)

    def known_run(run_id: str) -> Path:
        if store.find(run_id).run_id != run_id:
            raise NotFoundError(f"no run '{run_id}' in this project; labels name the whole id")
        folder = found.root / STEELYARD_FOLDER / "runs" / run_id
        wiring.require_sealed(folder)
        return folder

    return ReviewPorts(
        annotations=AnnotationStore(store.engine),
        references=wiring.references(found.root),
        run_folder=results_wiring.run_folder,
        known_run=known_run,
        redactor=lambda: target_wiring.redactor(found.settings),
        clock=wiring.system_clock(),
        fix_published=wiring.published_files(found.root).fix,
    )


def label_draft(path: Path, *, force: bool) -> FileDraft:
    """A file of labels that stands whole under its name, or not at all."""
    from steelyard.store.drafts import FileDraft

    return FileDraft(path, force=force)
