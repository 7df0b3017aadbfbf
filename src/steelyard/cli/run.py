"""`steelyard run`: call targets, grade the answers, seal the artifacts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from steelyard.cli.engine import (
    AddressOption,
    EngineChoice,
    EngineName,
    EngineOption,
    ResourcesOption,
    SendEnvOption,
)
from steelyard.cli.local_run import LocalRun
from steelyard.cli.report_files import (
    FormatOption,
    OutOption,
    ReportFormat,
    out_files,
)
from steelyard.cli.running import (
    check_allowed,
    require_number,
    share,
)
from steelyard.cli.server.server_runs import ServerOption
from steelyard.cli.tables import run_datasets, suite_datasets
from steelyard.cli.watching import OPTION, Watched, watch_run


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    datasets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DATASET...", help="Dataset files, or dataset/id@version."),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="A suite of steelyard.yaml.")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Target to call; repeat for several runs.")
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(help="rubric/id@version, an id or a path; replaces the checks of cases."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="judge/id@version, an id or a path; grades cases by their own expectations."
        ),
    ] = None,
    responses: Annotated[
        Path | None,
        typer.Option(
            help="Grade recorded responses instead of calling a target; 'conversation' grades the "
            "last assistant message of each case."
        ),
    ] = None,
    from_run: Annotated[
        str | None, typer.Option(help="Grade the stored responses of another run.")
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Run every record N times.")] = 1,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Run only the first N valid records.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="Run only records that match PATH OP VALUE [and ...]; = != < > ~."),
    ] = None,
    input_column: Annotated[
        str | None,
        typer.Option("--input", metavar="COLUMN", help="Of a table: the column to ask."),
    ] = None,
    expected_column: Annotated[
        str | None,
        typer.Option("--expected", metavar="COLUMN", help="Of a table: the expected answer."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Of a table: ids; default row-0001 …"),
    ] = None,
    prompt: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Prompt template; repeat to run every target with each."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Field that groups dependent records; default conversation_id.",
        ),
    ] = None,
    max_concurrency: Annotated[
        int | None, typer.Option(min=1, help="Maximum concurrent calls per target.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes; default 1.")
    ] = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    resources: ResourcesOption = None,
    send_env: SendEnvOption = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Reuse cached answers from earlier runs.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="USD", callback=require_number, help="Maximum cost of the run."
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse to start if there is any error or misspelt field."),
    ] = False,
    require_validated: Annotated[
        bool,
        typer.Option("--require-validated", help="Refuse to start if a judge is not validated."),
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="SHARE", help="Exit 1 if the pass rate is below SHARE."
        ),
    ] = None,
    fail_under_low: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="SHARE", help="Exit 1 if its lower bound is below SHARE."
        ),
    ] = None,
    corrected: Annotated[
        bool,
        typer.Option("--corrected", help="Apply both gates to the corrected pass rate."),
    ] = False,
    allow_failures: Annotated[
        str,
        typer.Option(
            callback=check_allowed, help="Maximum records without a score, N or P%; exit 4 above."
        ),
    ] = "0",
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print calls, tokens and cost of the run, and make no call."),
    ] = False,
    detect: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=100,
            metavar="POINTS",
            callback=require_number,
            help="With --plan: records needed to detect POINTS of difference (80 % power).",
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Run again whenever a file that the run reads changes."),
    ] = False,
    watch_report: Annotated[
        Path | None,
        typer.Option(
            "--watch-report", hidden=True, help="The file in which --watch is told what is read."
        ),
    ] = None,
    server: ServerOption = None,
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
) -> None:
    """Run datasets against targets. Exit 1 if a gate fails, 4 if records have no score."""
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.errors import InvalidError
    from steelyard.usecases.runs.suites import SuiteChoice

    files = out_files(out)
    on = EngineChoice(
        engine=engine, address=address, resources=resources or (), send_env=send_env or ()
    )
    near = datasets[0] if datasets else None
    # A server looks up its own suite.
    named_datasets = datasets or (suite_datasets(suite) if server is None else ())
    if watch:
        named = (*named_datasets, *(prompt or ()), *_paths(rubric, judge, responses))
        _watch({"--server": server, "--plan": plan}, near, named, output)
    if detect is not None and not plan:
        raise InvalidError("--detect belongs to --plan: it says how many records a run would need")
    if plan and files:
        raise InvalidError("--out writes the result of a run, and --plan makes none")
    if from_run and responses:
        raise InvalidError("--responses and --from-run exclude each other")
    is_conversation = str(responses) == "conversation"
    lacks = _lacking(
        target=target or responses or from_run or suite, rubric=rubric or judge or suite
    )
    columns = TableColumns(input=input_column, expected=expected_column, id=id_column)
    choice = SuiteChoice(
        datasets=tuple(
            run_datasets(
                named_datasets,
                columns,
                has_rubric=bool(rubric or suite),
                strict=strict,
                lacks=lacks,
            )
        ),
        suite=suite,
        targets=tuple(target or ()),
        prompts=tuple(prompt or ()),
        rubric=rubric,
        judge=judge,
        responses=None if is_conversation else responses,
        from_conversation=is_conversation,
        repeat=repeat,
        limit=limit,
        where=where,
        cluster=cluster,
        max_concurrency=max_concurrency,
        budget_usd=budget,
        workers=workers,
        cache=cache,
        strict=strict,
        require_validated={} if require_validated else None,
        fail_under=fail_under,
        fail_under_low=fail_under_low,
        corrected=corrected,
        allow_failures=allow_failures,
    )
    if server is not None:
        from steelyard.cli.server.server_run import run_on_server

        local = {
            "--responses": responses,
            "--from-run": from_run,
            "--workers": (workers or 1) > 1,
            "--engine": engine is EngineName.ray,
            "--cache": cache,
            "--plan": plan,
            "--prompt": prompt,
        }
        run_on_server(server, choice, local, output, files)
    LocalRun(
        choice=choice,
        near=near,
        from_run=from_run,
        is_plan=plan,
        detect=detect,
        output=output,
        files=files,
        engine=on,
        report=watch_report,
    ).execute()


def _lacking(**given: object) -> list[str]:
    """What nothing on the command line stands for."""
    return [name for name, value in given.items() if not value]


def _paths(*names: str | Path | None) -> list[Path]:
    """The names that are files, and no references."""
    return [path for name in names if name and (path := Path(name)).suffix and path.is_file()]


def _watch(
    refused: Mapping[str, object],
    near: Path | None,
    named: Sequence[Path],
    output: ReportFormat,
) -> NoReturn:
    from steelyard.errors import InvalidError

    for option, given in refused.items():
        if given:
            raise InvalidError(f"--watch runs again on this machine, and {option} does not")
    words = [word for word in sys.argv[1:] if word != OPTION]
    watched = Watched(words=words, near=near, named=named)
    watch_run(watched, is_compared=output is ReportFormat.text)
