"""`steelyard rubric`, `judge` and `dataset`: immutable versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from steelyard.cli import judge_validate
from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.running import ProgressLine, stoppable
from steelyard.cli.terminal import painter, show, show_json, show_report

if TYPE_CHECKING:
    from steelyard.model.difference import Diff
    from steelyard.reports.publication import MeasuredShift, Publication
    from steelyard.reports.registry import ListedVersion, Shown
    from steelyard.usecases.registry.publish import PublicationPlan


Named = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="A path, an id, or rubric/id@version, judge/id@version, dataset/id@version.",
    ),
]
One = Annotated[str, typer.Argument(metavar="A", help="A path or a reference.")]
Other = Annotated[str, typer.Argument(metavar="B", help="A path or a reference.")]
Output = Annotated[OutputFormat, typer.Option("--format", help="Output format.")]
Against = Annotated[
    str | None,
    typer.Option(metavar="RUN", help="Test on the traces of this run whether scores change."),
]
Version = Annotated[str | None, typer.Option(help="Version, if the dataset's contract has none.")]


def definition_commands(kind: Literal["rubric", "judge"]) -> typer.Typer:
    """The commands of rubrics, or of judges."""
    app = _group(kind)

    @app.command(
        "publish", help=f"Publish a version of a {kind}; its content never changes again."
    )
    def publish(name: Named, against: Against = None, output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.registry.publish import carry_out, plan_publication

        ports = opened(_near(name)).registry_ports()
        plan = plan_publication(ports, kind, name)
        is_open = not (plan.refusals or plan.standing)
        shift = _measured(plan, against, ports.root) if against and is_open else None
        _print_publication(carry_out(ports, plan, shift), output)

    @app.command("list", help=f"List {kind}s: files and published versions.")
    def listed(output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.registry.look_up import list_definitions

        _list(kind, list_definitions(opened().registry_ports(), kind), output)

    @app.command("show", help=f"Show a {kind}, its references and what uses it.")
    def shown(name: Named, output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.registry.look_up import show_definition

        _show(show_definition(opened(_near(name)).registry_ports(), kind, name), output)

    @app.command("diff", help=f"Compare two {kind}s and mark changes that affect scores.")
    def differing(one: One, other: Other, output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.registry.look_up import compare_definitions

        _compare(
            compare_definitions(opened(_near(one)).registry_ports(), kind, one, other), output
        )

    if kind == "judge":
        app.command("validate")(judge_validate.command)
    return app


def dataset_commands() -> typer.Typer:
    """The commands of datasets."""
    app = _group("dataset")

    @app.command(
        "publish", help="Publish a version of a dataset; its content never changes again."
    )
    def publish(name: Named, version: Version = None, output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.datasets.publish_dataset import publish_dataset

        _print_publication(
            publish_dataset(opened(_near(name)).registry_ports(), name, version), output
        )

    @app.command("list", help="List the versions of datasets: published, or saved in the store.")
    def listed(output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.datasets.dataset_versions import list_datasets

        _list("dataset", list_datasets(opened().registry_ports()), output)

    @app.command("show", help="Show the metadata of a dataset, and what uses it.")
    def shown(name: Named, output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.datasets.dataset_versions import show_dataset

        _show(show_dataset(opened(_near(name)).registry_ports(), name), output)

    @app.command("diff", help="Show the records that differ between two datasets.")
    def differing(one: One, other: Other, output: Output = OutputFormat.text) -> None:
        from steelyard.usecases.datasets.dataset_versions import compare_datasets

        _compare(compare_datasets(opened(_near(one)).registry_ports(), one, other), output)

    return app


def _group(kind: str) -> typer.Typer:
    more = ", validate" if kind == "judge" else ""
    help_text = f"Versions of {kind}s: publish, list, show, diff{more}."
    return typer.Typer(help=help_text, rich_markup_mode=None, no_args_is_help=True)


def _near(name: str) -> Path | None:
    """The path, if the name is a file; its project is used."""
    path = Path(name)
    return path if path.is_file() else None


def _measured(plan: PublicationPlan, run: str, root: Path) -> MeasuredShift:
    from steelyard.event_loop import run_async
    from steelyard.usecases.runs.verdict_changes import measure_shift, plan_trial

    typer.echo("grading stored traces, in which secrets and personal data are redacted", err=True)
    project = opened(root)
    trial = plan_trial(project.run_ports_with, plan, opened().run_folder(run))
    total = 2 * trial.old.prepared.forecast.answers
    started: list[str] = []
    with stoppable(started), ProgressLine("grading twice", total, is_quiet=False) as progress:
        return run_async(lambda: measure_shift(trial, started.append, progress.note))


def _print_publication(publication: Publication, output: OutputFormat) -> None:
    """Print the outcome to stdout; a refusal to stderr, with exit code 1."""
    from steelyard.reports.publication import publication_json, publication_lines

    is_refused = publication.outcome == "refused"
    if output is OutputFormat.json:
        show_json(publication_json(publication))
    else:
        show_report(publication_lines(publication, painter()), is_error=is_refused)
    raise typer.Exit(int(is_refused))


def _list(kind: str, listed: list[ListedVersion], output: OutputFormat) -> None:
    from steelyard.reports.registry import list_json, list_lines

    if output is OutputFormat.json:
        show_json(list_json(listed))
        return
    for line in list_lines(kind, listed, painter()):
        show(line)


def _show(shown: Shown, output: OutputFormat) -> None:
    from steelyard.reports.registry import shown_json, shown_text

    if output is OutputFormat.json:
        show_json(shown_json(shown))
    else:
        show(shown_text(shown).encode("utf-8", "backslashreplace"), is_line=False)


def _compare(diff: Diff, output: OutputFormat) -> None:
    from steelyard.reports.differences import diff_json, diff_lines
    from steelyard.reports.findings import printable

    if output is OutputFormat.json:
        show_json(diff_json(diff))
        return
    show(printable(f"{diff.old} → {diff.new}"))
    for line in diff_lines(diff, painter()):
        show(line)
