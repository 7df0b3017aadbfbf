"""Validations on disk: one file each, written once, in a folder for each judge as it is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec

from steelyard.contracts.judge.reader import time_of
from steelyard.errors import UnreadableFileError
from steelyard.judging.instrument import instrument_key
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.store.private_files import STEELYARD_FOLDER
from steelyard.store.write_once import DiskFiles, OnceFiles, write_next

_FOLDER = f"{STEELYARD_FOLDER}/registry"
_VALIDATIONS, _READS = "validations", "test_reads"


class ValidationFolder:
    """`validations/<instrument>/<label set>/<number>.json`, and `test_reads/<judge>/`."""

    def __init__(self, folder: Path, files: OnceFiles | None = None) -> None:
        self._folder = folder
        self._files = files or DiskFiles()

    def all(self) -> tuple[JudgeValidation, ...]:
        """Every validation, the oldest first."""
        self._files.look(self._folder / _VALIDATIONS)
        paths = sorted((self._folder / _VALIDATIONS).glob("*/*/[0-9]*.json"))
        return tuple(sorted((_read(path) for path in paths), key=_order))

    def add(self, validation: JudgeValidation) -> bool:
        """Keep one for good, unless the newest one of the judge found the same."""
        known = self.all()
        same = [one for one in known if _instrument(one) == _instrument(validation)]
        if same and _is_same(same[-1], validation):
            return False
        numbered = replace(validation, number=1 + max((one.number for one in known), default=0))
        place = self._folder / _VALIDATIONS / _instrument(validation) / validation.label_set_sha256
        write_next(self._files, place, _json(msgspec.to_builtins(numbered)))
        return True

    def last_validated(self, judge: str) -> str | None:
        """When a judge was last validated, by its reference; None if never.

        Neither refusals count nor labels of which nobody said how they were chosen.
        """
        found = [
            one
            for one in self.all()
            if one.judge == judge and not one.refusals and not one.is_of_unknown_design
        ]
        return found[-1].validated_at if found else None

    def read_test(self, judge: str, at: str) -> int:
        """Note that test labels are looked at for a judge, whatever its version."""
        note = _json({"judge": judge, "at": at})
        return int(write_next(self._files, self._reads(judge), note).stem)

    def test_reads(self, judge: str) -> int:
        """How often test labels were looked at for a judge, whatever its version."""
        self._files.look(self._reads(judge))
        return len(list(self._reads(judge).glob("[0-9]*.json")))

    def _reads(self, judge: str) -> Path:
        return self._folder / _READS / judge.partition("@")[0].replace("/", "-")


def project_validations(root: Path) -> ValidationFolder:
    """Those of a project."""
    return ValidationFolder(root / _FOLDER)


def _order(validation: JudgeValidation) -> tuple[datetime, int]:
    """By time, whatever zone it is written in; what was recorded last comes last."""
    return time_of(validation.validated_at), validation.number


def _instrument(validation: JudgeValidation) -> str:
    return instrument_key(validation.fingerprints, validation.rule)


def _is_same(one: JudgeValidation, other: JudgeValidation) -> bool:
    """Whether two compare the same verdicts with the same labels, chosen in the same way."""
    first, second = (
        (
            found.label_set_sha256,
            *(found.items, found.design, found.split, found.seed, found.refusals),
        )
        for found in (one, other)
    )
    return first == second


def _read(path: Path) -> JudgeValidation:
    try:
        return msgspec.json.decode(path.read_bytes(), type=JudgeValidation)
    except OSError as error:
        raise UnreadableFileError(f"cannot read {path}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise UnreadableFileError(f"{path} is damaged: {error}") from None


def _json(row: object) -> bytes:
    return (
        json.dumps(row, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"
    )
