"""A run is exported to files that other tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
import polars as pl
import pytest

from fakes.desk_project import write_desk
from fakes.many_commands import Done, run_many

SCHEMAS = Path(__file__).parents[1] / "schemas" / "every_eval_ever"
FORMS = ("table", "parquet", "inspect", "every-eval", "mlflow")


class Exports(NamedTuple):
    """The exports of a run of which one record has no answer, and what the commands said."""

    root: Path
    rows: list[dict[str, Any]]
    metrics: dict[str, Any]
    said: dict[str, Done]

    @property
    def scored(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["score"] is not None]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Exports:
    root = write_desk(tmp_path_factory.mktemp("exports"))
    (ran,) = run_many(
        root, [("run", "datasets/desk.jsonl", "--target", "moody", "--format", "json")]
    )
    run = json.loads(ran.stdout)
    commands: dict[str, tuple[str, ...]] = {
        form: ("export", "latest", "--to", form, "-o", f"out.{form}") for form in FORMS
    }
    commands |= {f"{form} to stdout": ("export", "latest", "--to", form) for form in FORMS}
    commands["a file"] = ("export", "latest", "--to", "mlflow", "-o", "steelyard.yaml")
    commands["back"] = (
        *("convert", "log.json", "--from", "inspect", "--to", "responses"),
        *("-o", "responses.jsonl"),
    )
    done = run_many(root, [commands[name] for name in commands if name != "back"])
    (root / "out.inspect").rename(root / "log.json")
    done += run_many(root, [commands["back"]])
    lines = (Path(run["artifacts"]) / "predictions.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return Exports(root, rows, run["metrics"], dict(zip(commands, done, strict=True)))


def test_the_run_has_rows_with_and_without_a_score(exports: Exports) -> None:
    assert 0 < len(exports.scored) < len(exports.rows)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_or_folder_is_written_and_named(exports: Exports, form: str) -> None:
    done = exports.said[form]

    assert (done.code, done.stderr) == (0, f"wrote out.{form}\n")


@pytest.mark.parametrize(
    ("form", "kind"), [("parquet", "file"), ("every-eval", "folder"), ("mlflow", "folder")]
)
def test_what_is_no_text_wants_a_name(exports: Exports, form: str, kind: str) -> None:
    done = exports.said[f"{form} to stdout"]

    assert done.code == 2
    assert f"--to {form} writes a {kind}; name it with -o" in done.stderr


def test_text_is_printed_without_a_name(exports: Exports) -> None:
    printed = json.loads(exports.said["table to stdout"].stdout)

    assert printed == json.loads((exports.root / "out.table").read_text("utf-8"))


def test_a_folder_is_not_written_over_a_file(exports: Exports) -> None:
    done = exports.said["a file"]

    assert done.code == 2
    assert "writes a folder, and steelyard.yaml is a file" in done.stderr


def test_a_table_names_its_columns_once(exports: Exports) -> None:
    table = json.loads((exports.root / "out.table").read_text("utf-8"))
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]

    assert [row["score"] for row in rows] == [row["score"] for row in exports.rows]
    assert [row["status"] for row in rows] == [row["status"] for row in exports.rows]
    assert any(name.startswith("check:") for name in table["columns"])


def test_parquet_has_the_types_of_its_columns(exports: Exports) -> None:
    frame = pl.read_parquet(exports.root / "out.parquet")

    assert frame["record_id"].to_list() == [row["record_id"] for row in exports.rows]
    assert frame["passed"].to_list() == [row["passed"] for row in exports.rows]
    assert frame["score"].to_list() == [row["score"] for row in exports.rows]
    assert frame.schema["passed"] == pl.Boolean
    assert frame.schema["input_tokens"] == pl.Int64


def test_a_log_of_inspect_has_every_row_with_its_scores(exports: Exports) -> None:
    log = json.loads((exports.root / "log.json").read_text("utf-8"))
    (verdict, *_) = log["results"]["scores"]

    assert log["version"] == 2
    assert [one["id"] for one in log["samples"]] == [row["record_id"] for row in exports.rows]
    assert verdict["metrics"]["pass_rate"]["value"] == exports.metrics["pass_rate"]["value"]
    for sample, row in zip(log["samples"], exports.rows, strict=True):
        passes = {None: None, True: "C", False: "I"}[row["passed"]]
        assert sample["scores"].get("verdict", {"value": None})["value"] == passes
        assert ("error" in sample) is (row["status"] != "evaluated")


def test_a_log_of_inspect_comes_back_as_responses(exports: Exports) -> None:
    lines = (exports.root / "responses.jsonl").read_text("utf-8").splitlines()
    responses = {row["record_id"]: row for row in map(json.loads, lines)}
    answered = [row for row in exports.rows if row["model_response"]]

    assert exports.said["back"].code == 0
    for row in answered:
        assert row["model_response"] in json.dumps(responses[row["record_id"]], ensure_ascii=False)


def test_every_eval_has_each_figure_with_interval_and_denominator(exports: Exports) -> None:
    (path,) = exports.root.glob("out.every-eval/data/*/*/*/*[0-9a-f].json")
    found = json.loads(path.read_text("utf-8"))
    figures = {one["metric_config"]["metric_id"]: one for one in found["evaluation_results"]}
    details = figures["pass_rate"]["score_details"]
    rate = exports.metrics["pass_rate"]

    assert details["score"] == rate["value"]
    assert details["uncertainty"]["num_samples"] == rate["n"]
    interval = details["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (rate["low"], rate["high"])
    assert details["details"]["total_records"] == str(exports.metrics["total_records"])
    assert {"score", *(f"check:{one}" for one in exports.metrics["checks"])} <= set(figures)


def test_every_eval_leaves_rows_without_a_score_out_and_counts_them(exports: Exports) -> None:
    (path,) = exports.root.glob("out.every-eval/data/*/*/*/*_samples.jsonl")
    document = json.loads(path.with_name(path.name.replace("_samples.jsonl", ".json")).read_text())
    samples = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    listed = document["detailed_evaluation_results"]

    assert [one["evaluation"]["score"] for one in samples] == [
        row["score"] for row in exports.scored
    ]
    assert listed["total_rows"] == len(exports.scored)
    without = len(exports.rows) - len(exports.scored)
    assert listed["additional_details"]["rows_without_score"] == str(without)
    assert listed["file_path"] == path.relative_to(exports.root / "out.every-eval").as_posix()


@pytest.mark.parametrize(
    ("files", "schema"), [("*[0-9a-f].json", "eval"), ("*_samples.jsonl", "instance_level_eval")]
)
def test_every_eval_is_valid_by_the_schemas_of_that_project(
    exports: Exports, files: str, schema: str
) -> None:
    (path,) = exports.root.glob(f"out.every-eval/data/*/*/*/{files}")
    rule = json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8"))
    text = path.read_text("utf-8")
    documents = (
        [json.loads(line) for line in text.splitlines()] if "_" in files else [json.loads(text)]
    )
    validator = jsonschema_rs.validator_for(rule)

    assert documents
    assert [error.message for one in documents for error in validator.iter_errors(one)] == []
    assert not validator.is_valid({**documents[0], "schema_version": 1})


def test_mlflow_has_an_experiment_with_a_run_and_its_numbers(exports: Exports) -> None:
    (run,) = exports.root.glob("out.mlflow/*/*/meta.yaml")
    table = json.loads((run.parent / "artifacts" / "predictions.json").read_text("utf-8"))

    assert "status: 3" in run.read_text("utf-8")
    assert _metric(run, "pass_rate") == exports.metrics["pass_rate"]["value"]
    assert _metric(run, "total_records") == exports.metrics["total_records"]
    assert len(table["data"]) == len(exports.rows)


def _metric(run: Path, name: str) -> float:
    return float((run.parent / "metrics" / name).read_text("utf-8").split()[1])
