"""`evaluate`: a dataset, a function and checks, from Python."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest

from checker import check_run
from fakes.projects import Project, row
from real_parts import require
from steelyard.checks.equals import Equals
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.errors import InvalidError, RequestError
from steelyard.library import compare, evaluate, load_eval_cases, read_dataset, read_run
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace
from steelyard.project import open_project

YES = Equals(value="yes")
RUBRIC = """\
{id: r, version: 1.0.0, checks: [{id: c, kind: equals, value: 'no'}], scoring: {combine: min}}
"""
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no dataset": ({"dataset": None}, "dataset must be a path, a Dataset, .* not NoneType"),
    "no target": ({"target": None}, "target must be a function or the name of a target, not None"),
    "one check": ({"checks": YES}, "checks must be a list of checks, not Equals"),
    "a name": ({"checks": ["equals"]}, "a check is an object such as Equals.*, not str"),
    "a class": ({"checks": [Equals]}, "a check is an object .*, not the class Equals"),
    "no repeat": ({"repeat": 0}, "`repeat` must be a whole number from 1 on, not 0"),
    "half": ({"repeat": 1.5}, "`repeat` must be a whole number from 1 on, not 1.5"),
    "true": ({"repeat": True}, "`repeat` must be a whole number from 1 on, not True"),
    "no records": ({"limit": 0}, "`limit` must be a whole number from 1 on, not 0"),
    "two graders": ({"rubric": "r.yaml"}, "checks and rubric exclude each other"),
    "two judges": ({"judge": "judge/tone@1.0.0"}, "checks and judge exclude each other"),
    "no rubric": ({"rubric": "", "checks": []}, "`rubric` is empty; leave it out, or say which"),
    "no judge": ({"judge": " ", "checks": []}, "`judge` is empty; leave it out, or say which"),
    "no selection": ({"where": ""}, "`where` is empty; leave it out, or say which"),
    "a number": ({"rubric": 5, "checks": []}, "`rubric` must be a text, not int"),
    "a false judge": ({"judge": 5, "checks": []}, "`judge` must be a text, not int"),
    "five": ({"where": 5}, "`where` must be a text, not int"),
    "a path": (
        {"project": "/path"},
        "project must be what open_project.*, not str",
    ),
    "no path": ({"project": ""}, "project must be what open_project.*, not str"),
    "no calls": (
        {"max_concurrency": 0},
        "`max_concurrency` must be a whole number from 1 on, not 0",
    ),
}


def says_yes(_: str) -> str:
    """The function most tests ask."""
    return "yes"


def says_no(_: str) -> str:
    """One that is never right."""
    return "no"


@pytest.fixture(autouse=True)
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user works in the project's folder."""
    monkeypatch.chdir(project.root)
    return project.root


def dataset(*ids: str) -> Dataset:
    """Cases made in code."""
    said = (Message(role="user", content="Say yes."),)
    cases = tuple(Case(id=name, input_messages=said) for name in ids)
    return Dataset(id="mine", contract="eval_cases", cases=cases)


def test_a_function_gets_the_prompt() -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "yes"

    run = evaluate(dataset("a", "b"), target=answer, checks=[YES])
    check_run(run.folder)

    assert asked == ["Say yes.", "Say yes."]
    assert (run.status, run.metrics.pass_count) == ("completed", 2)
    assert [record["target"] for record in run.records()] == ["answer", "answer"]


def test_a_function_that_asks_for_a_case_gets_the_case() -> None:
    def answer(case: Case) -> str:
        return "yes" if case.id == "a" else "no"

    run = evaluate(dataset("a", "b"), target=answer, checks=[YES])

    assert [record["passed"] for record in run.records()] == [True, False]


def test_a_function_may_be_async_and_return_a_trace() -> None:
    async def answer(case: Case) -> Trace:
        return Trace(messages=(Message(role="assistant", content=f"yes, {case.id}"),))

    run = evaluate(dataset("a"), target=answer, checks=[MustContainAny(phrases=("yes",))])

    assert [record["model_response"] for record in run.records()] == ["yes, a"]


def test_a_function_that_raises_fails_its_record_alone() -> None:
    def answer(case: Case) -> str:
        if case.id == "b":
            raise ValueError("no idea")
        return "yes"

    run = evaluate(dataset("a", "b", "c"), target=answer, checks=[YES])
    check_run(run.folder)

    assert run.status == "completed_with_failures"
    assert [record["status"] for record in run.records()] == [
        "evaluated",
        "evaluation_error",
        "evaluated",
    ]


def test_checks_of_one_kind_get_numbers() -> None:
    checks = [YES, Equals(value="no"), MustContainAny(phrases=("y",)), Equals(value="maybe")]
    run = evaluate(dataset("a"), target=says_yes, checks=checks)
    scores = next(run.records())["evaluator_scores"]

    assert isinstance(scores, list)
    assert [score["check"] for score in scores if isinstance(score, dict)] == [
        "equals",
        "equals-2",
        "must_contain_any",
        "equals-3",
    ]


def test_a_check_of_ones_own_needs_a_kind_and_a_method() -> None:
    class Short:
        kind: ClassVar[str] = "short"

        def check(self, trace: Trace, case: Case) -> Outcome:
            is_short = len(trace.response) < 5 * len(case.id)
            return Outcome.passing("short") if is_short else Outcome.failing("long")

    run = evaluate(dataset("a"), target=says_yes, checks=[Short()])

    assert run.metrics.pass_count == 1


def test_without_checks_the_cases_grade_themselves(project: Project) -> None:
    found, _ = read_dataset(project.root / project.cases([row("a"), row("b")]))
    run = evaluate(found, target=says_yes)

    assert run.metrics.pass_count == 2


@pytest.mark.parametrize("is_text", [True, False])
def test_a_dataset_may_be_a_file_and_its_bad_records_are_counted(
    project: Project, is_text: bool
) -> None:
    path = project.root / project.cases([row("a"), {"id": "bad"}])
    run = evaluate(str(path) if is_text else path, target=says_yes)
    check_run(run.folder)

    assert (run.metrics.total_records, run.metrics.invalid_records) == (2, 1)
    assert run.status == "completed_with_failures"


def test_a_case_with_the_id_of_an_earlier_one_is_invalid(project: Project) -> None:
    run = evaluate(dataset("a", "b", "a"), target=says_yes, checks=[YES])
    rows = [(row["index"], row["status"]) for row in run.records()]

    assert rows == [(0, "evaluated"), (1, "evaluated"), (2, "invalid_record")]
    assert "id 'a' is used by an earlier record" in (
        (run.folder / "record_validation.jsonl").read_text(encoding="utf-8")
    )
    assert run.metrics.invalid_records == 1


def test_a_target_may_be_named(project: Project) -> None:
    project.write("steelyard.yaml", "targets: {parrot: {provider: echo}}")
    run = evaluate(dataset("a"), target="parrot", checks=[Equals(value="Say yes.")])

    assert run.metrics.pass_count == 1


def test_every_case_may_be_asked_several_times() -> None:
    run = evaluate(dataset("a"), target=says_yes, checks=[YES], repeat=3)

    assert [record["repeat"] for record in run.records()] == [0, 1, 2]


def test_calls_at_once_are_limited() -> None:
    most = [0, 0]

    async def answer(_: str) -> str:
        most[0] += 1
        most[1] = max(most)
        most[0] -= 1
        return "yes"

    evaluate(dataset(*map(str, range(20))), target=answer, checks=[YES], max_concurrency=1)

    assert most == [0, 1]


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(RequestError, match="no record is selected"):
        evaluate(dataset(), target=says_yes, checks=[YES])
    with pytest.raises(RequestError, match="no such file"):
        evaluate("gone.jsonl", target=says_yes)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (
            {"target": "default"},
            "no target given; pass `target` NAME or define 'default'",
        ),
        ({"target": "echo", "where": "tga = x"}, ": `where`: no record has 'tga'"),
        ({"target": "echo"}, "; name a rubric with `rubric` ("),
    ],
)
def test_what_is_refused_names_arguments(
    project: Project, choices: dict[str, Any], said: str
) -> None:
    path = project.root / project.document([{"record_id": "a", "input": {"prompt": "?"}}])

    with pytest.raises(RequestError) as refused:
        evaluate(path, **choices)
    assert said in str(refused.value)
    assert "--" not in str(refused.value)


@pytest.mark.parametrize(("wrong", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_call_is_told_before_anything_runs(
    here: Path, wrong: dict[str, Any], said: str
) -> None:
    call: dict[str, Any] = {"dataset": dataset("a"), "target": says_yes, "checks": [YES], **wrong}

    with pytest.raises(RequestError, match=said):
        evaluate(call.pop("dataset"), **call)
    assert not (here / ".steelyard").exists()


def test_cases_alone_and_the_pair_of_read_dataset_are_no_dataset(project: Project) -> None:
    path = project.root / project.cases([row("a")])
    cases: Any = load_eval_cases(path)
    pair: Any = read_dataset(path)

    with pytest.raises(RequestError, match=r"not cases alone; write steelyard\.Dataset\(id="):
        evaluate(cases, target=says_yes)
    with pytest.raises(
        RequestError, match=r"not a pair; write dataset, findings = steelyard\.read_da"
    ):
        evaluate(pair, target=says_yes)


def test_a_folder_is_called_one(here: Path) -> None:
    with pytest.raises(RequestError, match="is a folder; name a file in it"):
        evaluate(here, target=says_yes)
    with pytest.raises(RequestError, match="is a folder; name a file in it"):
        read_dataset(here)


def test_where_a_loop_is_running_the_run_gets_a_thread_of_its_own() -> None:
    """As in a notebook."""

    async def notebook() -> str:
        return evaluate(dataset("a"), target=says_yes, checks=[YES]).status

    assert asyncio.run(notebook()) == "completed"


def test_an_interrupt_in_a_notebook_stops_the_run() -> None:
    asked: list[str] = []

    async def slow(prompt: str) -> str:
        asked.append(prompt)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await asyncio.sleep(600)
        return "yes"

    async def notebook() -> None:
        with pytest.raises(KeyboardInterrupt):
            evaluate(dataset("a", "b"), target=slow, checks=[YES], max_concurrency=1)

    loop = asyncio.new_event_loop()  # asyncio.run would take the interrupt for itself
    try:
        loop.run_until_complete(notebook())
    finally:
        loop.close()
    assert asked == ["Say yes."]


def test_an_interrupt_before_a_run_has_begun_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At whatever line it comes: here the thread of the run is there, and its loop is not."""
    submit = ThreadPoolExecutor.submit

    def interrupted(*given: Any) -> None:
        submit(*given)
        raise KeyboardInterrupt

    async def notebook() -> None:
        with pytest.raises(KeyboardInterrupt):
            evaluate(dataset("a"), target=never, checks=[YES])

    async def never(_prompt: str) -> str:
        await asyncio.sleep(600)
        return "yes"

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    asyncio.run(notebook())


@pytest.mark.parametrize(
    ("library", "method", "said"),
    [
        ("polars", "to_frame", "to_frame needs polars: pip install 'steelyard"),
        ("pandas", "to_pandas", "to_pandas needs pandas: pip install pandas"),
    ],
)
def test_a_frame_needs_its_library(
    library: str, method: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = evaluate(dataset("a"), target=says_yes, checks=[YES])
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(RequestError, match=said):
        getattr(run, method)()


def test_a_frame_has_the_plain_columns() -> None:
    frame = evaluate(dataset("a"), target=says_yes, checks=[YES]).to_frame()

    assert frame["model_response"].to_list() == ["yes"]
    assert not {"trace", "evaluator_scores"} & set(frame.columns)


def test_a_frame_of_pandas_has_the_same_columns_with_their_types() -> None:
    require("pandas")

    def answer(case: Case) -> str:
        if case.id == "b":
            raise ConnectionError("the line is cut")
        return "yes"

    run = evaluate(dataset("a", "b"), target=answer, checks=[YES])
    frame = run.to_pandas()
    types = {name: str(frame[name].dtype) for name in ("passed", "repeat", "score")}

    assert type(frame).__module__.startswith("pandas")
    assert list(frame.columns) == run.to_frame().columns
    assert frame["model_response"].isna().tolist() == [False, True]
    assert frame["passed"].to_list()[0] is True
    assert types == {"passed": "boolean", "repeat": "Int64", "score": "float64"}


def test_a_column_may_be_empty_in_many_rows_before_it_has_a_value() -> None:
    """Polars looks at 100 rows for the types unless it is told to look at all."""

    def answer(case: Case) -> str:
        if case.id != "r100":
            raise ConnectionError("the line is cut")
        return "yes"

    names = [f"r{number}" for number in range(101)]
    frame = evaluate(dataset(*names), target=answer, checks=[YES]).to_frame()

    assert frame["model_response"].to_list() == [None] * 100 + ["yes"]


def test_a_rubric_grades_selected_records(project: Project) -> None:
    project.write("rubrics/r.yaml", RUBRIC)
    cases = project.cases([row("a", tags=["x"]), row("b", tags=["y"]), row("c", tags=["y"])])
    run = evaluate(cases, target=says_yes, rubric="rubric/r@1.0", where="tags=y", limit=1)

    assert [(one["record_id"], one["passed"]) for one in run.records()] == [("b", False)]


def test_a_judge_that_nothing_asks_is_told(project: Project) -> None:
    project.write("rubrics/r.yaml", RUBRIC)
    run = evaluate(dataset("a"), target=says_yes, rubric="r", judge="judge/accuracy@1.0.0")

    assert [one for one in run.warnings if "judge/accuracy@1.0.0 is not asked: " in one]
    with pytest.raises(RequestError, match=r"judge/gone@1\.0\.0"):
        evaluate(dataset("a"), target=says_yes, rubric="r", judge="judge/gone@1.0.0")


def test_a_path_is_no_project() -> None:
    path: Any = "/path"

    with pytest.raises(InvalidError, match="not str"):
        read_run(project=path)
    with pytest.raises(InvalidError, match="not str"):
        compare("a", "b", project=path)


def test_warnings_come_back_with_the_run(project: Project) -> None:
    cases = project.cases([row("a"), row("b", tagz=["x"])])

    assert [one for one in evaluate(cases, target=says_yes).warnings if "'tagz'" in one]


def test_runs_are_read_and_compared_from_another_folder(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = evaluate(dataset("a", "b"), target=says_yes, checks=[YES])
    b = evaluate(dataset("a", "b"), target=says_no, checks=[YES])
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    with open_project(project.root) as opened:
        found = compare("latest~1", b, project=opened)
        again = read_run(a.run_id, project=opened)

    assert (again.run_id, again.status, again.metrics) == (a.run_id, a.status, a.metrics)
    assert (found.common, found.a.run_id, found.b.run_id) == (2, a.run_id, b.run_id)


def names_answer(trace: Trace, case: Case) -> bool:
    """A check of the user's."""
    return any(text in trace.response for text in case.answers)


async def moody(trace: Trace, case: Case) -> float:
    """One that raises for a case."""
    if case.id == "row-0002":
        raise ValueError("no mood")
    return 1.0 if trace.response else 0.0


def test_rows_are_graded_by_functions_and_an_exception_leaves_a_record_unscored() -> None:
    rows = [{"q": "Say yes.", "a": "yes"}, {"q": "Say no.", "a": "no"}, {"q": None, "a": "x"}]
    checks = [names_answer, moody]

    run = evaluate(rows, target=says_yes, checks=checks, input="q", expected="a")
    check_run(run.folder)
    found: list[dict[str, Any]] = list(run.records())

    assert [(row["record_id"], row["status"]) for row in found] == [
        ("row-0001", "evaluated"),
        ("row-0002", "evaluation_error"),
        ("row-0003", "invalid_record"),
    ]
    assert found[1]["reason"] == "moody: ValueError: no mood"
    assert [one["check"] for one in found[0]["evaluator_scores"]] == ["names_answer", "moody"]
    assert run.metrics.pass_rate.n == 1


def test_async_checks_run_on_the_loop_of_the_run() -> None:
    loops: set[int] = set()

    async def noted(trace: Trace, case: Case) -> bool:
        loops.add(id(asyncio.get_running_loop()))
        return bool(trace.response and case.id)

    async def target(_: str) -> str:
        loops.add(id(asyncio.get_running_loop()))
        return "yes"

    run = evaluate(dataset("a", "b"), target=target, checks=[noted])

    assert (run.metrics.pass_count, len(loops)) == (2, 1)


def says_markup(_: str) -> str:
    """The answer that the rows expect."""
    return "<b>"


def test_a_run_a_comparison_and_findings_are_shown_escaped_and_without_a_script() -> None:
    rows = [{"id": "<i>", "input": "Is <script>1</script>?", "expected": "<b>"}]
    wrong = [{"input": "x", "<u>": 1}]
    first = evaluate(rows, target=says_yes, checks=[names_answer], input="input")
    second = evaluate(rows, target=says_markup, checks=[names_answer], input="input")
    _, findings = read_dataset(wrong)
    shown: list[Any] = [first, compare(first, second), findings]

    for one in shown:
        page = one._repr_html_()
        assert not [tag for tag in ("<script", "<i>", "<u>", "<link", "<img") if tag in page]
        assert page.startswith('<div class="steelyard">')
    assert "Is &lt;script&gt;1&lt;/script&gt;?" in first._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "Better in B, 1" in shown[1]._repr_html_()


def names_all(trace: Trace, case: Case) -> bool:
    """Finds all of no answers in every text."""
    return all(text in trace.response for text in case.answers)


@pytest.mark.parametrize(
    ("form", "empty"),
    [
        *product(["list", "polars", "pandas", "csv"], [None, ""]),
        ("pandas", float("nan")),
    ],
)
def test_a_row_without_the_answer_that_a_column_holds_is_not_graded(
    project: Project, form: str, empty: Any
) -> None:
    rows: Any = [{"q": "One?", "a": "yes"}, {"q": "Two?", "a": empty}]
    if form == "csv":
        project.write("t.csv", "q,a\nOne?,yes\nTwo?,\n")
        rows = "t.csv"
    elif form != "list":
        require(form)
        rows = import_module(form).DataFrame(rows)

    run = evaluate(rows, target=says_yes, checks=[names_all], input="q", expected="a")

    found = [(row["status"], row["passed"]) for row in run.records()]
    assert found == [("evaluated", True), ("invalid_record", None)]
    assert (run.metrics.pass_rate.value, run.metrics.pass_rate.n) == (1, 1)
    text = (run.folder / "record_validation.jsonl").read_text(encoding="utf-8")
    assert "column 'a' is empty, so nothing says what is expected" in text


def test_a_rubric_grades_rows_without_answers(project: Project) -> None:
    project.write("r.yaml", RUBRIC)
    rows = [{"q": "One?", "a": "yes"}, {"q": "Two?", "a": None}]

    run = evaluate(rows, target=says_yes, rubric="r.yaml", input="q", expected="a")

    assert [row["passed"] for row in run.records()] == [False, False]


def test_a_path_of_a_table_is_read_as_its_rows(project: Project) -> None:
    project.write("t.csv", "q,a\nOne?,yes\n")
    project.write("plain.csv", "input,expected\nOne?,yes\n")

    named = evaluate("t.csv", target=says_yes, checks=[names_all], input="q", expected="a")
    plain = evaluate("plain.csv", target=says_yes, checks=[names_all])
    dataset, findings = read_dataset("t.csv", input="q", expected="a")

    assert named.metrics.pass_rate.value == plain.metrics.pass_rate.value == 1
    assert (dataset.cases[0].answers, [*findings]) == (("yes",), [])


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a.yaml", "no such file"),
        ("b.yaml", "it is not one"),
        ("c.xlsx", "a workbook is not read as one; save it as CSV"),
    ],
)
def test_columns_are_named_for_tables_alone(project: Project, path: str, why: str) -> None:
    project.write("b.yaml", "evalcases: []")
    project.write("c.xlsx", "PK")

    with pytest.raises(RequestError, match=f"`input` names a column of a table; {why}"):
        evaluate(path, target=says_yes, checks=[YES], input="q")
