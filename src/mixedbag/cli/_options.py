"""Arguments and options that several commands have, each said once."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="A model that compare or fit has saved.")]
Table = Annotated[str, typer.Argument(help="A file, a folder of bags, or the name of a data set.")]
Bag = Annotated[str | None, typer.Option(help="Column with the bag of each row.")]
Label = Annotated[
    str | None,
    typer.Option(help="Column with the bag's label; of counts also no,yes or yes/voters."),
]
Labels = Annotated[
    str | None, typer.Option(help="Table of labels, for a folder with a file a bag.")
]
Positive = Annotated[str | None, typer.Option(help="The label that counts as positive.")]
Rule = Annotated[
    str, typer.Option(help="auto, any, majority, count, proportion, sum, mean or sequence.")
]
Time = Annotated[str | None, typer.Option(help="Column that orders the rows of a bag: a sequence.")]
Instance = Annotated[str | None, typer.Option(help="Column with names of instances.")]
Group = Annotated[
    str | None, typer.Option(help="Column with what must not be cut, such as the patient.")
]
Weight = Annotated[str | None, typer.Option(help="Column with how much the bag counts.")]
Exposure = Annotated[
    str | None,
    typer.Option(
        help="Column with the exposure of each row (people, hours), for totals of events."
    ),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out.")]
Query = Annotated[str | None, typer.Option(help="SQL that selects from the table data.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is random.")]
