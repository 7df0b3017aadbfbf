"""Validations on disk: one file each, written once, in a folder for each judge as it is asked."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from steelyard.errors import UnreadableFileError
from steelyard.judging.instrument import instrument_key
from steelyard.model.validation import JudgeValidation
from steelyard.store.private_files import STEELYARD_FOLDER
from steelyard.store.write_once import numbered, write_next

_FOLDER = f"{STEELYARD_FOLDER}/registry"
_VALIDATIONS, _READS = "validations", "test_reads"


class ValidationFolder:
    """`validations/<instrument>/<label set>/<number>.json`, and `test_reads/<judge>/`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[JudgeValidation, ...]:
        """Every validation, the oldest first."""
        paths = sorted((self._folder / _VALIDATIONS).glob("*/*/[0-9]*.json"))
        # A day without an hour comes before that day's hours.
        return tuple(sorted((_read(path) for path in paths), key=lambda one: one.validated_at))

    def add(self, validation: JudgeValidation) -> bool:
        """Keep one for good, unless the last one with these labels found the same."""
        key = instrument_key(validation.fingerprints, validation.rule)
        place = self._folder / _VALIDATIONS / key / validation.label_set_sha256
        if any(_is_same(_read(path), validation) for path in numbered(place)):
            return False
        write_next(place, _json(msgspec.to_builtins(validation)))
        return True

    def last_validated(self, judge: str) -> str | None:
        """When a judge was last validated, by its reference; None where it never was."""
        times = [one.validated_at for one in self.all() if one.judge == judge]
        return times[-1] if times else None

    def read_test(self, judge: str, at: str) -> int:
        """Note that test labels are looked at for a judge, whatever its version."""
        name = judge.partition("@")[0].replace("/", "-")
        return int(
            write_next(self._folder / _READS / name, _json({"judge": judge, "at": at})).stem
        )


def project_validations(root: Path) -> ValidationFolder:
    """Those of a project."""
    return ValidationFolder(root / _FOLDER)


def _is_same(one: JudgeValidation, other: JudgeValidation) -> bool:
    """Whether two compare the same verdicts with the same labels, chosen in the same way."""
    ways = ((found.items, found.design, found.split, found.seed) for found in (one, other))
    first, second = ways
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
