"""`mixedbag demo`: the main job on built-in data."""

from pathlib import Path
from time import monotonic, process_time
from typing import Annotated

import typer

from mixedbag import _nursery

# A few of each kind, quick to fit.
_LEARNERS = (
    "bag statistics + SVM",
    "spread labels + logistic",
    "BagMarginSVC",
    "EMDD",
    "MILES",
    "MILogisticRegression",
    "ExpRegBoost",
)


def command(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("mixedbag-demo"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over the results of another run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report.")] = False,
):
    """Which bags of handwritten digits contain a 9? Compare learners on built-in data."""
    from mixedbag.cli._runs import refuse_file, refuse_other_run

    refuse_file(out)
    refuse_other_run(out, overwrite)
    _nursery.begin()
    from mixedbag.cli._compare import run
    from mixedbag.comparison import Guess
    from mixedbag.datasets import load_digits_bags

    run(
        load_digits_bags(),
        rule=Guess("any", "one 9 is enough"),
        title="Which bags of handwritten digits contain a 9?",
        out=out,
        budget=None,  # all of the work, whatever the load: everyone sees the same answer
        as_json=as_json,
        open_report=open_report,
        learners=_LEARNERS,
        folds=5,
        inner_folds=3,
        n_jobs=-1,
        began=monotonic() - process_time(),
    )
