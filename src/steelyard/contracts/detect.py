"""Which contract a file follows: by its extension, then by its keys; never by trial and error."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from steelyard.formats.names import near_miss
from steelyard.model.json_value import JsonValue

Kind: TypeAlias = Literal["dataset", "rubric", "judge"]

DATASETS = ("legal_eval", "dataset_document", "question_set", "eval_cases", "evals_json")
RUBRICS = ("question_rubric", "check_rubric")
JUDGES = ("judge",)
CONTRACTS = (*DATASETS, *RUBRICS, *JUDGES)
KINDS: dict[str, tuple[str, ...]] = {"dataset": DATASETS, "rubric": RUBRICS, "judge": JUDGES}
EXTENSIONS = (".json", ".jsonl", ".yaml", ".yml")
SUPPORTED = (
    "legal_eval rows (.jsonl with 'task_type'), "
    "dataset documents (.json with 'records'), eval cases (.yaml or .yml with 'evalcases', "
    ".jsonl with one case a line), question sets (.yaml or .json with 'questions' that have an "
    "'input'), judges (.yaml or .json with 'template'), "
    "question rubrics (.json or .yaml with 'questions'), "
    "evals files (.json with 'evals') and check rubrics (.yaml with 'checks')"
)

CASE_KEYS = ("evalcases", "eval_cases", "cases", "tests")
_LEGAL_KEYS = ("schema_version", "task_type")
_RECORD_KEYS = ("record_id", "example_id")
_RUN_KEYS = ("response_text", "trace", "error_code", "model_response", "annotator")
# The first key that a document has decides; `questions` needs a look at its items.
_DOCUMENT_KEYS: tuple[tuple[str, str], ...] = (
    ("records", "dataset_document"),
    ("dataset_id", "dataset_document"),
    *((key, "eval_cases") for key in CASE_KEYS),
    ("questions", "questions"),
    ("dimensions", "question_rubric"),
    ("checks", "check_rubric"),
    ("template", "judge"),
    ("evals", "evals_json"),
)
# What question rubrics have at their top, and no other rubric has.
_RUBRIC_KEYS = ("status", "scale", "guidance")


def detect_jsonl(first_row: JsonValue) -> str:
    """The contract of a JSONL file, by its first row that can be parsed."""
    names = first_row.keys() if isinstance(first_row, dict) else ()
    is_legal = any(_has(names, key) for key in _LEGAL_KEYS)
    return "legal_eval" if is_legal else "eval_cases"


def is_of_a_run(first_row: JsonValue) -> bool:
    """Whether a row is a response, a judge's reply or a label: these name a record, and are none.

    A folder may hold them beside its datasets.
    """
    names = first_row.keys() if isinstance(first_row, dict) else ()
    is_about_a_record = any(name in names for name in _RECORD_KEYS) and "id" not in names
    return is_about_a_record and any(name in names for name in _RUN_KEYS)


def detect_document(top: dict[str, JsonValue], extension: str, folder: str = "") -> str | None:
    """The contract of a JSON or YAML document, by the keys of its top level and its folder."""
    found = _by_keys(top, extension)
    if folder == "judges":
        return "judge"
    if folder == "rubrics" and found not in RUBRICS:
        is_asking = _has(top, "questions") or _has_words_for_people(top)
        return "question_rubric" if is_asking else "check_rubric"
    return found


def has_cases(names: Collection[str]) -> bool:
    """Whether a YAML file holds cases of its own, and so is no sidecar."""
    return any(_has(names, key) for key in CASE_KEYS)


def of_kind(kind: str, detected: str | None, extension: str) -> str | None:
    """The contract that `--kind` settles on: an exact name, or one of its family."""
    if kind in CONTRACTS:
        return kind
    family = KINDS[kind]
    if detected in family:
        return detected
    if kind == "dataset":
        return "dataset_document" if extension == ".json" else "eval_cases"
    return family[-1]


def _by_keys(top: dict[str, JsonValue], extension: str) -> str | None:
    for exactly in (True, False):
        for key, contract in _DOCUMENT_KEYS:
            name = key if key in top else None
            if not exactly and name is None:
                name = next((other for other in top if near_miss(other, (key,))), None)
            if name is None or (contract == "eval_cases" and extension == ".json"):
                continue
            decided = _by_questions(top, name) if contract == "questions" else contract
            if decided:
                return decided
    return "question_set" if top.get("questions") == [] else None


def _by_questions(top: dict[str, JsonValue], name: str) -> str | None:
    questions = top[name]
    items = questions if isinstance(questions, list) else []
    for key, contract in (("input", "question_set"), ("key", "question_rubric")):
        if any(isinstance(item, dict) and _has(item, key) for item in items):
            return contract
    return "question_rubric" if not items and _has_words_for_people(top) else None


def _has_words_for_people(top: dict[str, JsonValue]) -> bool:
    """Whether a document begins as question rubrics do, even if it asks nothing yet."""
    is_named = "name" in top and "version" in top
    return "id" not in top and (is_named or any(name in top for name in _RUBRIC_KEYS))


def _has(names: Collection[str], key: str) -> bool:
    return key in names or any(near_miss(name, (key,)) for name in names)
