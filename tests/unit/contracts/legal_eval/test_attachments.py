"""The documents of a row: found, read, missing, refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import NoFiles
from steelyard.store import project
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.open_dataset import open_dataset
from steelyard.usecases.datasets.read_dataset import read_dataset
from strategies.legal_eval import case_of, found_in, jsonl, pdf, row, rows_of


def attached(path: str, **fields: JsonValue) -> JsonObject:
    return row(attachments=[{"path": path, **fields}])


def written(folder: Path, value: JsonObject, **documents: bytes) -> Path:
    """A file with one row, and documents beside it."""
    for name, data in documents.items():
        place = folder / name.replace("__", "/").replace("_", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    path = folder / "data.jsonl"
    path.write_bytes(jsonl(value))
    return path


def findings(path: Path) -> list[Finding]:
    reading = open_dataset(DiskWorkspace(path.parent), path).reading
    assert reading
    return [found for one in reading.rows() for found in one.findings]


@pytest.mark.parametrize(
    ("path", "fields", "text"),
    [
        ("documents/lease.pdf", {}, "The rent is due."),
        ("documents/notes.md", {}, "Notes\n"),
        ("documents/notes.md", {"kind": "other"}, "Notes\n"),
        ("documents/plan.svg", {}, None),
        ("documents/plan.svg", {"kind": "image"}, None),
        ("documents/plan.svg", {"kind": " Text "}, "<svg/>"),
        ("documents/photo.png", {"kind": "image"}, None),
        ("documents/photo.png", {}, None),
    ],
)
def test_texts_are_read_and_others_kept_by_their_path(
    path: str, fields: JsonObject, text: str | None
) -> None:
    """LE-27, LE-28"""
    case = case_of(attached(path, title="T", **fields))

    (document,) = case.attachments
    assert (document.path, document.title, document.text) == (path, "T", text)
    assert document.kind == fields.get("kind")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("documents/none.pdf", ("warning", "missing_file")),
        ("documents/none.png", ("warning", "missing_file")),
        ("documents/scan.pdf", ("warning", "unreadable_file")),
        ("documents/broken.pdf", ("error", "unreadable_file")),
        ("documents/latin.txt", ("error", "invalid_encoding")),
        ("documents/huge.pdf", ("error", "record_too_large")),
        ("/etc/passwd", ("error", "file_outside_root")),
        ("../documents/lease.pdf", ("error", "file_outside_root")),
        ("documents/../../lease.pdf", ("error", "file_outside_root")),
        ("documents\\..\\..\\lease.pdf", ("error", "file_outside_root")),
        ("C:\\lease.pdf", ("error", "file_outside_root")),
        ("C:lease.pdf", ("error", "file_outside_root")),
        ("\\\\server\\share\\lease.pdf", ("error", "file_outside_root")),
    ],
)
def test_what_cannot_be_read_is_said(path: str, found: tuple[str, str]) -> None:
    """LE-26, LE-29, LE-30, LE-31"""
    assert found_in(attached(path)) == [(*found, "attachments[0].path")]


def test_a_path_may_go_up_as_far_as_it_went_down() -> None:
    """LE-26"""
    assert found_in(attached("documents/../none.pdf"))[0][1] == "missing_file"


def test_every_document_is_looked_at() -> None:
    paths = ["documents/none.pdf", "documents/lease.pdf", "documents/broken.pdf"]
    value = row(attachments=[{"path": path} for path in paths])

    assert [(code, path) for _, code, path in found_in(value)] == [
        ("missing_file", "attachments[0].path"),
        ("unreadable_file", "attachments[2].path"),
    ]


def test_the_message_names_the_document() -> None:
    """LE-26, LE-29"""
    (missing,) = rows_of(attached("no.pdf"))[0].findings
    (outside,) = rows_of(attached("../no.pdf"))[0].findings

    assert missing.message == "attachments[0].path: no such file: no.pdf"
    assert outside.message == (
        "attachments[0].path: ../no.pdf does not lie beneath the folder of the file"
    )
    assert outside.hint == "write a path relative to that folder, without '..'"


def test_without_a_folder_every_document_is_missing() -> None:
    """LE-29"""
    assert "not allowed here" in str(NoFiles().read("a.pdf"))


def test_the_text_of_a_pdf_is_read(tmp_path: Path) -> None:
    """LE-27"""
    value = attached("documents/lease.PDF")
    path = written(tmp_path, value)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "lease.PDF").write_bytes(pdf("Rent is due on the first."))

    dataset, found = read_dataset(DiskWorkspace(tmp_path), path)
    assert found == []
    assert dataset.cases[0].attachments[0].text == "Rent is due on the first."


def test_a_pdf_is_known_by_its_bytes_too(tmp_path: Path) -> None:
    """LE-27"""
    path = written(tmp_path, attached("lease", kind="pdf"), lease=pdf("Rent is due."))

    dataset, _ = read_dataset(DiskWorkspace(tmp_path), path)
    assert dataset.cases[0].attachments[0].text == "Rent is due."


@pytest.mark.parametrize(
    ("data", "code", "severity"),
    [
        (b"plain text", "unreadable_file", "error"),
        (b"%PDF-1.4\nbroken", "unreadable_file", "error"),
        (pdf("Rent")[:200], "unreadable_file", "error"),
        (pdf(""), "unreadable_file", "warning"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_said(
    tmp_path: Path, data: bytes, code: str, severity: str
) -> None:
    """LE-30, LE-31"""
    path = written(tmp_path, attached("a.pdf"), a_pdf=data)

    (finding,) = findings(path)
    assert (finding.code, finding.severity) == (code, severity)
    assert "a.pdf" in finding.message


def test_a_document_is_looked_for_up_to_the_root_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("", encoding="utf-8")
    (tmp_path / "notes.md").write_text("Notes\n", encoding="utf-8")
    (tmp_path / "datasets").mkdir()
    path = written(tmp_path / "datasets", attached("notes.md"))

    dataset, found = read_dataset(DiskWorkspace(tmp_path), path)
    assert (found, dataset.cases[0].attachments[0].text) == ([], "Notes\n")


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    """LE-26"""
    (tmp_path / "secret.md").write_text("secret\n", encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "steelyard.yaml").write_text("", encoding="utf-8")
    (folder / "notes.md").symlink_to(tmp_path / "secret.md")
    path = written(folder, attached("notes.md"))

    assert [(found.code, found.severity) for found in findings(path)] == [
        ("file_outside_root", "error")
    ]


def test_the_texts_of_many_documents_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LE-08"""
    monkeypatch.setattr(project, "MAX_KEPT", 5_000)
    for number in range(20):
        (tmp_path / f"{number}.md").write_text("x" * 1_000, encoding="utf-8")
    files = project.find_project(tmp_path, tmp_path).files_of(tmp_path / "data.jsonl")
    texts = [files.read(f"{number}.md") for number in [*range(20), *range(20)]]

    assert len(texts) == 40
    assert len(files._known) <= 3  # pyright: ignore[reportPrivateUsage]


def test_an_eval_case_may_show_a_pdf_as_well(tmp_path: Path) -> None:
    """EC-58"""
    (tmp_path / "lease.pdf").write_bytes(pdf("Rent is due."))
    block: JsonObject = {"type": "file", "value": "lease.pdf"}
    value: JsonObject = {
        "id": "a",
        "expected_outcome": "Goal",
        "input_messages": [{"role": "user", "content": [block]}],
    }
    (tmp_path / "cases.jsonl").write_bytes(jsonl(value))

    dataset, found = read_dataset(DiskWorkspace(tmp_path), tmp_path / "cases.jsonl")
    assert (found, dataset.cases[0].input_messages[0].text) == ([], "Rent is due.")
