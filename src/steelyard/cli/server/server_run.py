"""`steelyard run --server`: start runs on a server, follow them, and show what they left."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import typer

from steelyard.cli.opening import print_warning
from steelyard.cli.report_files import OutFile, ReportFormat
from steelyard.cli.run_output import (
    RunReports,
    compared_runs,
    finished_row,
    show_compared,
)
from steelyard.cli.running import (
    exit_code,
    gate_results,
    group_code,
    print_gates,
    stoppable,
)
from steelyard.cli.server.server_progress import follow_run
from steelyard.cli.server.server_runs import copy_run, private_project
from steelyard.cli.terminal import painter, show_report

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from steelyard.client.sync_client import Client
    from steelyard.project import Project
    from steelyard.reports.run.run_text import RunView
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.execute import FinishedRun
    from steelyard.usecases.runs.suites import SuiteChoice

_SHOWN = 5
_POSTED = "dataset_document"
_RUN = "run"


class ServerRun(NamedTuple):
    """A finished run of a server, with the gates that apply to it."""

    done: FinishedRun
    gates: Gates


class ServerResult(NamedTuple):
    """The runs of a command, and the project that holds their artifacts for a while."""

    server: str
    project: Project
    runs: Sequence[ServerRun]
    group_id: str | None


def run_on_server(
    server: str,
    choice: SuiteChoice,
    local: Mapping[str, object],
    output: ReportFormat,
    files: Sequence[OutFile] = (),
) -> NoReturn:
    """Run datasets on a server; exit as a run on this machine does."""
    from steelyard.client.sync_client import Client
    from steelyard.errors import InvalidError

    refused = [option for option, given in local.items() if given]
    if refused:
        raise InvalidError(f"{', '.join(refused)} cannot be used with --server")
    if not (choice.datasets or choice.suite):
        raise InvalidError("name a dataset, or a suite that has one")
    number = max(1, len(choice.datasets)) * max(1, len(choice.targets))
    checked = {path: _checked(path, is_strict=choice.strict) for path in choice.datasets}
    started: list[str] = []
    with (
        Client(server) as client,
        private_project() as project,
        _naming_started(server, started),
    ):
        accepted: list[tuple[str, str]] = []
        group_id = _new_group() if number > 1 else None
        for title, run_id in _started(client, choice, checked, group_id):
            started.append(run_id)
            accepted.append((title, run_id))
        runs = [
            _finished(client, one, choice, project.root, is_quiet=output is not ReportFormat.text)
            for one in accepted
        ]
        codes = [exit_code(*one) for one in runs]
        shown = ServerResult(server, project, runs, group_id)
        _show(shown, output, files)
    raise typer.Exit(group_code(codes))


@contextmanager
def _naming_started(server: str, started: Sequence[str]) -> Generator[None]:
    """Name the runs that were started if this process stops, or loses the server, early."""
    from steelyard.errors import SteelyardError

    left = f"\n{{}} was started at {server}; see: steelyard show {{}} --server {server}"
    try:
        with stoppable(started, left):
            yield
    except SteelyardError:
        for run_id in started:
            typer.echo(left.format(run_id, run_id).lstrip(), err=True)
        raise


def _new_group() -> str:
    from steelyard.store.clock import SystemClock
    from steelyard.store.ids import new_run_id

    return new_run_id(int(SystemClock().now().timestamp() * 1000)).replace("run_", "group_")


class _CheckedFile(NamedTuple):
    """A valid dataset."""

    contract: str | None
    has_settings: bool
    """Whether it has a member that a server would take for the settings of its run."""


def _checked(path: Path, *, is_strict: bool) -> _CheckedFile | None:
    """What is known of a valid dataset; None for a reference, which the server knows.

    A dataset that the server would refuse is an error, before anything is sent.
    """
    from steelyard.errors import InvalidError
    from steelyard.model.published import dataset_name
    from steelyard.plugins import installed_contracts
    from steelyard.project import open_project
    from steelyard.reports.findings import printable
    from steelyard.usecases.datasets.validate import ValidateOptions, validate

    if dataset_name(path.as_posix()) and not path.is_file():
        return None
    options = ValidateOptions(strict=is_strict)
    with open_project(near=path) as project:
        contracts = installed_contracts()
        report = validate(project.workspace, [str(path)], options, contracts=contracts)
    file = next((one for one in report.files if Path(one.path) == path), report.files[0])
    errors = [finding for finding in file.findings if finding.is_error]
    for finding in errors[:_SHOWN]:
        place = f"{finding.path}: " if finding.path else ""
        typer.echo(f"steelyard: {path}: {printable(place + finding.message)}", err=True)
    is_unreadable = any(finding.index is None for finding in errors)
    if is_unreadable or not file.accepted or (is_strict and errors):
        raise InvalidError(
            f"{path} has {len(errors)} error(s), {file.accepted} of {file.total} records are "
            f"valid; `steelyard validate {path}` lists all"
        )
    if file.rejected:
        said = f"{file.rejected} of {file.total} records are invalid and get no score"
        typer.echo(f"steelyard: {path}: {said}", err=True)
    ignored = [one for one in file.findings if (one.code, one.path) == ("unknown_field", _RUN)]
    for finding in ignored:
        print_warning(f"{path}: {finding.message} ({finding.hint})")
    return _CheckedFile(file.contract, has_settings=bool(ignored))


def _started(
    client: Client,
    choice: SuiteChoice,
    checked: Mapping[Path, _CheckedFile | None],
    group_id: str | None,
) -> Iterator[tuple[str, str]]:
    """Start a run for every dataset and target: its title and its id.

    Documents of contract 2 are sent with the run. Files of other contracts are kept by the server
    as datasets, which runs name.
    """
    settings = _settings(choice)
    settings["group_id"] = group_id
    for path in choice.datasets or (None,):
        document, dataset, file = None, None, checked[path] if path else None
        if path is not None and file and file.contract == _POSTED:
            document = _without_settings(path) if file.has_settings else path
        elif path is not None and file:
            dataset = client.datasets.create(path, strict=choice.strict).reference
        elif path is not None:
            dataset = path.as_posix()
        for target in choice.targets or (None,):
            given = {**settings, "target": target, "dataset": dataset}
            title = f"{path or choice.suite}{f' × {target}' if target else ''}"
            yield title, client.start_run(document, **given).run_id


def _without_settings(path: Path) -> bytes:
    """A document without its member `run`: only the options of the command count."""
    from steelyard.contracts.dataset_document.own_member import take_out

    taken = take_out(path.read_bytes(), _RUN)
    return taken.document if taken else path.read_bytes()


def _settings(choice: SuiteChoice) -> dict[str, Any]:
    """What the server must know; what was not given is left to it."""
    return {
        "suite": choice.suite,
        "rubric": choice.rubric,
        "judge": choice.judge,
        "repeat": choice.repeat if choice.repeat > 1 else None,
        "limit": choice.limit,
        "where": choice.where,
        "cluster": choice.cluster,
        "max_concurrency": choice.max_concurrency,
        "budget_usd": choice.budget_usd,
        "strict": choice.strict or None,
        "require_validated": None if choice.require_validated is None else True,
        "fail_under": choice.fail_under,
        "fail_under_low": choice.fail_under_low,
        "allow_failures": None if choice.allow_failures == "0" else choice.allow_failures,
    }


def _finished(
    client: Client,
    started: tuple[str, str],
    choice: SuiteChoice,
    root: Path,
    *,
    is_quiet: bool,
) -> ServerRun:
    """Follow a run to its end, and fetch its artifacts."""
    from steelyard.errors import RunError
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.results.read_run import read_run
    from steelyard.usecases.runs.execute import FinishedRun

    title, run_id = started
    ended = follow_run(client, title, run_id, is_quiet=is_quiet)
    status: Any = ended.status
    if not ended.is_finished:
        raise RunError(f"{run_id} has stopped on the server, where it can be resumed")
    if status == "failed":
        typer.echo(f"steelyard: {run_id} has failed on the server", err=True)
        done = FinishedRun(run_id=run_id, status=status, folder="", metrics=None)
        return ServerRun(done, Gates())
    folder = copy_run(client, run_id, root).folder
    view = read_run(folder)
    given = {
        "fail_under": choice.fail_under,
        "fail_under_low": choice.fail_under_low,
        "corrected": choice.corrected or None,
        "allow_failures": None if choice.allow_failures == "0" else choice.allow_failures,
    }
    gates = Gates.of(
        {
            **view.manifest.setup.options.gates,
            **{name: value for name, value in given.items() if value is not None},
        }
    )
    gates.require_use()
    done = FinishedRun(run_id=run_id, status=status, folder=str(folder), metrics=view.metrics)
    return ServerRun(done, gates)


def _show(result: ServerResult, output: ReportFormat, files: Sequence[OutFile]) -> None:
    server, runs = result.server, result.runs
    views = [(one, _view(one)) for one in runs if one.done.folder]
    compared = compared_runs(result.project, [view for _, view in views])
    if output is ReportFormat.text:
        for one, view in views:
            _show_text(server, one.done.run_id, view)
        show_compared(compared)
    rows = [
        {**finished_row(one.done), "artifacts": _artifacts(server, one.done.run_id)}
        for one in runs
    ]
    reports = RunReports(
        views=[view for _, view in views],
        row=rows[0] if len(rows) == 1 else {"group": result.group_id, "runs": rows},
        compared=compared,
    )
    reports.put(output, files, in_summary=True)
    for one in runs:
        print_gates(*one)


def _view(run: ServerRun) -> RunView:
    from steelyard.usecases.results.read_run import read_run

    return replace(read_run(Path(run.done.folder)), gates=gate_results(*run))


def _show_text(server: str, run_id: str, view: RunView) -> None:
    from steelyard.reports.run.run_text import run_lines

    steps = (
        f"  artifacts  {_artifacts(server, run_id)}",
        f"  inspect    steelyard show {run_id} --server {server}",
        f"  share      steelyard report {run_id} --server {server} -o report.html",
    )
    show_report((*run_lines(view, painter()), *steps))


def _artifacts(server: str, run_id: str) -> str:
    return f"{server.rstrip('/')}/v1/runs/{run_id}/artifacts"
