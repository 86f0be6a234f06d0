"""The command line: `memkit lab`, `tour`, `doctor`, `bench` and `eval`.

Only words and options are here; what a command does is in `memkit/lab/`. The tour, the bench and the evaluations are imported when they
are asked for, so that `memkit doctor` still answers on an installation where something they need is broken.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

from memkit.errors import MemkitError
from memkit.lab import doctor as doctor_
from memkit.lab import serve

EVALUATIONS = {
    "extraction": "memkit.lab.evaluate_extraction",
    "redaction": "memkit.lab.evaluate_redaction",
    "retrieval": "memkit.lab.evaluate_retrieval",
}
"""Name on the command line -> the module that measures it: by its `report(data, for_program=...)`, or a `command` of its own."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="memkit")
def main() -> None:
    """The long-term memory of an AI agent, small enough to read."""


@main.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the server; a free one near 8888 by default.")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
def lab(port: int | None, no_browser: bool) -> None:
    """Open the course in JupyterLab, at the tour."""
    try:
        serve.open_course(port=port, browser=not no_browser)
    except serve.NoJupyter as error:
        raise click.ClickException(str(error)) from error


@main.command()
def tour() -> None:
    """Tell the story of one fact, from source to tombstone, in the terminal."""
    import_module("memkit.lab.tour").main()


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print a list of findings for a program.")
def doctor(as_json: bool) -> None:
    """Say what is wrong with this installation, and the one command that mends it.

    The exit code is 1 when something that is needed is wrong.
    """
    findings = doctor_.examine()
    click.echo(doctor_.as_json(findings) if as_json else doctor_.as_text(findings))
    raise SystemExit(0 if doctor_.healthy(findings) else 1)


class _Bench(click.Command):
    """`memkit bench NAMES`, but `memkit bench drift ...` is a command of its own with its own options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] == ["drift"]:
            import_module("memkit.lab.drift").command.main(args=args[1:], prog_name="memkit bench drift")
        return super().parse_args(ctx, args)


@main.command(cls=_Bench)
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print the rows for a program.")
@click.option("--quick", is_flag=True, help="Measure tiny sizes, to see that it works.")
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Also write the table into this document.")
def bench(names: tuple[str, ...], as_json: bool, quick: bool, into: Path | None) -> None:
    """Measure memkit against plain baselines on this machine, as ratios.

    NAMES choose what is measured: import, recall, add-then-query, write, remember, fairness. Without any, all of it, in a few minutes.
    Only where named, since they take longer or need other systems: check, memory, search, add-large, peers, growth,
    growth-million. `memkit bench drift --help` measures how often each way of citing calls a fact stale falsely, or misses its change.
    """
    try:
        found = import_module("memkit.lab.bench")
        rows = found.measure(names, quick=quick)
        click.echo(found.as_json(rows) if as_json else found.as_table(rows))
        if into is not None:
            found.write_into(into, found.as_table(rows))
    except MemkitError as error:
        raise click.ClickException(str(error)) from error


class _Evaluations(click.Group):
    """The evaluations, each loaded from its module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(EVALUATIONS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in EVALUATIONS:
            return None
        module = import_module(EVALUATIONS[cmd_name])
        found: click.Command = getattr(module, "command", None) or _evaluation(cmd_name, module)
        return found


def _evaluation(name: str, module: ModuleType) -> click.Command:
    """Return the command of an evaluation that takes data and has one report."""

    def run(data: Path | None, as_json: bool) -> None:
        try:
            click.echo(module.report(data, for_program=as_json))
        except MemkitError as error:
            raise click.ClickException(str(error)) from error

    where = click.Argument(["data"], required=False, type=click.Path(exists=True, path_type=Path))
    switch = click.Option(["--json", "as_json"], is_flag=True, help="Print the rows for a program.")
    told = f"{inspect.getdoc(module) or name}\n\nDATA is a file or a folder to measure on, instead of the project's own."
    return click.Command(name, params=[where, switch], callback=run, help=told)


@main.group(name="eval", cls=_Evaluations)
def evaluate() -> None:
    """Measure how well a part of memkit does its work, on labelled data."""
