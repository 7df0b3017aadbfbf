"""`steelyard run` of tables as they are, and of every target with every prompt."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
ROWS = [
    {"question": "Say Paris,\nplease; now", "answer": "Paris", "topic": "geo"},
    {"question": "Two plus two?", "answer": "4", "topic": "math"},
]
RUBRIC = """\
id: paris
version: 1.0.0
checks:
  - {id: says, kind: must_contain_any, phrases: [Paris]}
scoring: {combine: all_pass}
"""
FILES = [
    *("plain.csv", "excel.csv", "t.tsv", "l.json", "l.jsonl", "f.parquet", "hf/train.parquet"),
    "saved/data-00000-of-00001.arrow",
]
AGENT = """\
from pathlib import Path

def answer(prompt):
    if "plus" in prompt and not Path(__file__).with_name("mended").exists():
        raise ConnectionError("the line is cut")
    return prompt
"""
NAMED = ("--input", "question", "--expected", "answer")
GRADED = ("--rubric", "paris@1.0.0", "--format", "json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "steelyard.yaml").write_text("targets:\n  two: {provider: echo}\n")
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "paris.yaml").write_text(RUBRIC)
    return tmp_path


def write_table(folder: Path, name: str) -> None:
    """The rows as a spreadsheet, a program or a library writes them."""
    quoted = [[f'"{value}"' for value in row.values()] for row in ROWS]
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if path.suffix in {".csv", ".tsv"}:
        sign = {"excel.csv": ";", "t.tsv": "\t"}.get(path.name, ",")
        lines = [sign.join(ROWS[0]), *map(sign.join, quoted)]
        encoding = "utf-8-sig" if path.name == "excel.csv" else "utf-8"
        path.write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding))
    elif path.suffix == ".json":
        path.write_text(json.dumps(ROWS))
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    elif path.suffix == ".arrow":
        # As `save_to_disk` of Hugging Face's datasets writes it.
        pl.DataFrame(ROWS).write_ipc_stream(path)
        state = {"_data_files": [{"filename": path.name}]}
        (path.parent / "state.json").write_text(json.dumps(state))
        (path.parent / "dataset_info.json").write_text("{}")
    else:
        pl.DataFrame(ROWS).write_parquet(path)


def predictions(folder: str) -> list[Any]:
    text = (Path(folder) / "predictions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", FILES)
def test_a_table_runs_as_it_is(name: str, project: Path, steelyard: Steelyard) -> None:
    write_table(project, name)
    dataset = name.partition("/")[0]
    done = steelyard("run", dataset, *NAMED, "--target", "echo", *GRADED, cwd=project)
    found = json.loads(done.stdout)
    rows = predictions(found["artifacts"])
    again = steelyard("regrade", found["run_id"], *GRADED, cwd=project)

    assert done.returncode == 0, done.stderr
    assert [row["record_id"] for row in rows] == ["row-0001", "row-0002"]
    assert rows[0]["model_response"] == ROWS[0]["question"]
    assert [row["passed"] for row in rows] == [True, False]
    assert "Paris" in json.dumps(rows[0]["expected"])
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("command", ["run", "validate"])
def test_without_columns_the_error_names_them_and_the_command(
    command: str, project: Path, steelyard: Steelyard
) -> None:
    write_table(project, "excel.csv")
    done = steelyard(command, "excel.csv", cwd=project)
    typed = "steelyard run excel.csv --input question --expected answer"

    assert done.returncode == (2 if command == "run" else 1)
    assert "columns 'question', 'answer', 'topic'" in done.stdout + done.stderr
    assert typed in done.stdout + done.stderr


def test_failed_rows_of_a_table_are_tried_again(project: Path, steelyard: Steelyard) -> None:
    write_table(project, "plain.csv")
    (project / "agent.py").write_text(AGENT)
    with (project / "steelyard.yaml").open("a") as file:
        file.write("  agent: {provider: python, callable: 'agent:answer'}\n")
        file.write("retry: {max_attempts: 1}\n")
    run = steelyard("run", "plain.csv", *NAMED, "--target", "agent", *GRADED, cwd=project)
    (project / "mended").touch()
    (project / "plain.csv").unlink()
    again = steelyard("retry", "latest", "--format", "json", cwd=project)
    rows = predictions(json.loads(again.stdout)["artifacts"])

    assert (run.returncode, again.returncode) == (4, 0), run.stderr + again.stderr
    assert [row["model_response"] for row in rows] == [row["question"] for row in ROWS]


def test_the_dataset_of_a_suite_may_be_a_table(project: Path, steelyard: Steelyard) -> None:
    write_table(project, "plain.csv")
    with (project / "steelyard.yaml").open("a") as file:
        file.write("suites: {release: {dataset: plain.csv, target: two, rubric: paris}}\n")
    bare = steelyard("run", "--suite", "release", cwd=project)
    typed = shlex.split(bare.stderr.partition("run it with: ")[2])
    done = steelyard(*typed[1:], "--format", "json", cwd=project)
    found = json.loads(done.stdout)

    assert bare.returncode == 2
    assert typed == ["steelyard", "run", "--suite", "release", *NAMED]
    assert [row["passed"] for row in predictions(found["artifacts"])] == [True, False]


EMPTY_FOLDER = [
    ("run", "t.csv", "--limit", "1"),
    ("run", "t.csv", "--input", "q", "--repeat", "2"),
    ("run", "t.csv", "--input", "q", "--expected", "expcted"),
    ("run", "t.csv", "--expected", "expcted", "--prompt", "my prompt.md"),
]


@pytest.mark.parametrize("words", EMPTY_FOLDER)
def test_the_lines_of_the_errors_lead_to_a_number_in_an_empty_folder(
    words: tuple[str, ...], tmp_path: Path, steelyard: Steelyard
) -> None:
    (tmp_path / "t.csv").write_text("q,expcted\nSay Paris,Paris\n")
    (tmp_path / "my prompt.md").write_text("Please: {{input}}")
    done = steelyard(*words, cwd=tmp_path)
    for _ in range(2):
        *files, last = done.stderr.strip().splitlines()
        for line in files:
            if line.startswith("  echo "):
                subprocess.run(line, shell=True, cwd=tmp_path, check=True)
        typed = shlex.split(last[last.index("steelyard run") :])
        assert typed[: 1 + len(words)] == ["steelyard", *words]
        done = steelyard(*typed[1:], cwd=tmp_path)
        if done.returncode == 0:
            break
        words = tuple(typed[1:])

    assert "pass rate  100" in done.stdout, done.stderr


def test_a_file_that_is_there_is_not_suggested(tmp_path: Path, steelyard: Steelyard) -> None:
    (tmp_path / "t.csv").write_text("q,a\nSay Paris,Paris\n")
    (tmp_path / "expected.yaml").write_text("mine")
    done = steelyard("run", "t.csv", cwd=tmp_path)
    typed = shlex.split(done.stderr.partition("run it with: ")[2])
    last = steelyard(*typed[1:], cwd=tmp_path)

    assert typed[-2:] == ["--target", "echo"]
    assert "which has no target" in last.stderr
    assert "expected.yaml" not in done.stderr + last.stderr


def test_a_row_that_cannot_be_read_is_an_invalid_record(
    project: Path, steelyard: Steelyard
) -> None:
    (project / "t.csv").write_text("nr,q,a\n7,Paris?,yes\n8,short\n")
    words = ("--input", "q", "--expected", "a", "--id", "nr", "--target", "echo", *GRADED)
    done = steelyard("run", "t.csv", *words, cwd=project)

    assert done.returncode == 4
    assert json.loads(done.stdout)["metrics"]["invalid_records"] == 1
    assert "t.csv: line 3: 2 cells, but the first line names 3 columns" in done.stderr


def test_the_reason_of_an_invalid_row_is_that_of_the_table(
    project: Path, steelyard: Steelyard
) -> None:
    with (project / "steelyard.yaml").open("a") as file:
        file.write("judges: {default: {target: two}}\n")
    (project / "t.csv").write_text("q,a\nParis?,\n,yes\na,b,c\nd,e\n")
    words = ("--input", "q", "--expected", "a", "--target", "echo", "--format", "json")
    done = steelyard("run", "t.csv", *words, cwd=project)
    rows = predictions(json.loads(done.stdout)["artifacts"])

    assert [(row["record_id"], row["reason"]) for row in rows[:3]] == [
        ("row-0001", "line 2: column 'a' is empty, so nothing says what is expected"),
        ("row-0002", "line 3: column 'q' is empty, so there is nothing to ask"),
        ("row-0003", "line 4: 3 cells, but the first line names 2 columns"),
    ]
    assert "t.csv: line 2: column 'a' is empty" in done.stderr


def test_a_misspelt_column_is_a_warning_and_refused_in_strict_mode(
    project: Path, steelyard: Steelyard
) -> None:
    (project / "t.csv").write_text("q,expcted\nParis?,Paris\n")
    words = ("run", "t.csv", "--input", "q", "--target", "echo", *GRADED)
    done = steelyard(*words, cwd=project)
    strict = steelyard(*words, "--strict", cwd=project)
    said = "t.csv: unknown column 'expcted' (did you mean 'expected'?)"

    assert (done.returncode, strict.returncode) == (0, 2)
    assert f"warning: {said}; it is kept in metadata" in done.stderr
    assert f"strict: {said}" in strict.stderr


LISTS = {
    "t.csv": 'q,a\n"{""k"":  1}","[1,  2]"\nParis?,"[""A"", ""B""]"\n',
    "t.jsonl": '{"q": "{\\"k\\":  1}", "a": "[1,  2]"}\n{"q": "Paris?", "a": ["A", "B"]}\n',
}


@pytest.mark.parametrize("name", LISTS)
def test_a_text_is_asked_as_it_stands_and_several_answers_are_refused(
    name: str, project: Path, steelyard: Steelyard
) -> None:
    (project / name).write_text(LISTS[name])
    words = ("--input", "q", "--expected", "a", "--target", "echo", *GRADED)
    done = steelyard("run", name, *words, cwd=project)
    first, second = predictions(json.loads(done.stdout)["artifacts"])

    assert first["model_response"] == '{"k":  1}'
    assert first["expected"] == {"answers": ["[1,  2]"]}
    assert second["status"] == "invalid_record"
    assert "2 answers, but an expected answer is one text" in second["reason"]
    assert second["reason"] in done.stderr


REFUSED: dict[tuple[str, ...], str] = {
    ("t.csv", "--input", "nope"): "'nope', which is not there; the columns are 'q', 'a'",
    ("t.csv", "--input", "q"): "name a column with --expected, or a rubric with --rubric",
    ("no.csv", "--input", "q"): "no.csv: --input names a column of a table; no such file",
    ("steelyard.yaml", "--id", "q"): "--id names a column of a table; it is not one",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_users_mistake_is_exit_2(
    words: tuple[str, ...], project: Path, steelyard: Steelyard
) -> None:
    (project / "t.csv").write_text("q,a\nParis?,yes\n")
    done = steelyard("run", *words, "--target", "echo", cwd=project)

    assert done.returncode == 2
    assert REFUSED[words] in done.stderr


def test_every_target_runs_with_every_prompt(project: Path, steelyard: Steelyard) -> None:
    write_table(project, "plain.csv")
    (project / "a.md").write_text("{{input}}")
    (project / "b.md").write_text("Paris, {{input}} about {{metadata.topic}}")
    prompts = ("--prompt", "a.md", "--prompt", "b.md")
    words = ("run", "plain.csv", *NAMED, *prompts, "--target", "echo", "--target", "two")
    done = steelyard(*words, *GRADED, cwd=project)
    runs = json.loads(done.stdout)["runs"]
    rows = [predictions(run["artifacts"])[1] for run in runs]
    shown = steelyard(*words, *GRADED[:2], cwd=project)
    compared = steelyard("compare", "latest~1", "latest", cwd=project)

    assert done.returncode == 0, done.stderr
    names = ["echo+a.md", "echo+b.md", "two+a.md", "two+b.md"]
    assert [row["target"] for row in rows] == names
    assert rows[1]["model_response"] == "Paris, Two plus two? about math"
    assert "compared with plain × echo+a.md\n  plain × echo+b.md  no difference" in shown.stdout
    assert compared.stdout.startswith("A  plain × two+a.md")


@pytest.mark.parametrize(
    ("text", "said"), [("No place", "shows nothing of a record"), ("{{question}}", "question")]
)
def test_a_prompt_that_shows_no_question_is_refused(
    text: str, said: str, project: Path, steelyard: Steelyard
) -> None:
    write_table(project, "plain.csv")
    (project / "a.md").write_text(text)
    done = steelyard("run", "plain.csv", *NAMED, "--prompt", "a.md", *GRADED, cwd=project)

    assert done.returncode == 2
    assert "--prompt a.md" in done.stderr
    assert said in done.stderr


def test_a_table_of_a_spreadsheet_is_run_and_a_workbook_told_what_to_do(
    steelyard: Steelyard, project: Path
) -> None:
    table = "sep=;\nNr;question;answer;;\n1;Say Paris;Say Paris;;\n;;;;\n;;;;\n"
    (project / "t.csv").write_text(table, encoding="utf-8")
    (project / "ragged.csv").write_text("question,answer\na,b,c\nd\n", encoding="utf-8")
    (project / "real.xlsx").write_bytes(b"PK")
    options = (*NAMED, "--target", "echo", *GRADED)
    run = steelyard("run", "t.csv", *options, cwd=project)
    ragged = steelyard("run", "ragged.csv", *options, cwd=project)
    workbook = steelyard("run", "real.xlsx", *options, cwd=project)

    rows = (project / json.loads(run.stdout)["artifacts"] / "predictions.jsonl").read_text("utf-8")
    assert (run.returncode, rows.count("\n")) == (0, 1)
    assert (ragged.returncode, workbook.returncode) == (2, 2)
    assert "line 2: 3 cells, but the first line names 2 columns; line 3: 1 cells" in ragged.stderr
    assert "a workbook is not read as one; save it as CSV" in workbook.stderr


def test_a_doubled_id_is_named_at_its_line_and_a_column_of_numbers_is_not_asked(
    steelyard: Steelyard, project: Path
) -> None:
    table = 'Nr,Frage,Antwort\n1,"a\nb\nc",x\n1,d,y\n'
    (project / "t.csv").write_text(table, encoding="utf-8")
    bare = steelyard("run", "t.csv", cwd=project)
    named = ("--input", "Frage", "--expected", "Antwort", "--id", "Nr", "--plan")
    plan = steelyard("run", "t.csv", *named, "--target", "echo", *GRADED[:2], cwd=project)

    assert "--input Frage --expected Antwort" in bare.stderr
    assert "line 5: an earlier row has the id '1', too; this record is invalid" in plan.stderr
