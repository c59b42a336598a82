"""Put the contents of a report into its page."""

import json
from importlib import resources
from pathlib import Path

from mixedbag._files import written_whole
from mixedbag._threads import one_thread
from mixedbag.comparison import Comparison
from mixedbag.datasets.records import BagData
from mixedbag.report._contents import contents

_SCRIPTS = ("charts.js", "leaderboard.js", "browser.js", "report.js")


def write_report(
    result: Comparison,
    path: str | Path,
    data: BagData | None = None,
    title: str = "",
    command: str | None = None,
) -> None:
    """Write the report of a comparison.

    Parameters
    ----------
    result : Comparison
        What `compare` found.
    path : str or path
        The HTML file to write; it is complete or not there.
    data : BagData, optional
        What else is known of the bags: notes, images, names and true labels of instances.
    title : str
        What to write at its top.
    command : str, optional
        What to run to get the same result.

    See Also
    --------
    report_page : The page as text.
    mixedbag.compare : Makes the result.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mixedbag import compare
    >>> from mixedbag.datasets import load_digits_bags
    >>> from mixedbag.report import write_report
    >>> data = load_digits_bags(n_bags=20)
    >>> quick = dict(learners=["bag statistics + SVM"], folds=2, inner_folds=2)
    >>> result = compare(data.bags, data.y, **quick)
    >>> write_report(result, "digits.html", data, title="Which bags hold a 9?")
    >>> "Which bags hold a 9?" in Path("digits.html").read_text(encoding="utf-8")
    True
    """
    with written_whole(Path(path)) as file:
        file.write(report_page(result, data, title, command).encode())


@one_thread()
def report_page(
    result: Comparison, data: BagData | None = None, title: str = "", command: str | None = None
) -> str:
    """The report as text: HTML with its style, scripts and data inside.

    Parameters
    ----------
    result : Comparison
        What `compare` found.
    data : BagData, optional
        What else is known of the bags: notes, images, names and true labels of instances.
    title : str
        What to write at its top.
    command : str, optional
        What to run to get the same result.

    Returns
    -------
    str
        The page; nothing in it is fetched from elsewhere.

    See Also
    --------
    write_report : Writes it to a file.

    Examples
    --------
    >>> from mixedbag import compare
    >>> from mixedbag.datasets import load_digits_bags
    >>> from mixedbag.report import report_page
    >>> data = load_digits_bags(n_bags=20)
    >>> quick = dict(learners=["bag statistics + SVM"], folds=2, inner_folds=2)
    >>> result = compare(data.bags, data.y, **quick)
    >>> report_page(result, data).lstrip()[:15].lower()
    '<!doctype html>'
    """
    known = contents(result, data, title, command)
    page = _part("report.html")
    # Inside a script element only "</" and "<!--" could end the data early.
    text = json.dumps(known, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    parts = {
        "/*style*/": _part("report.css"),
        "/*scripts*/": "\n".join(_part(name) for name in _SCRIPTS),
        '"data"': text.replace("<", "\\u003c"),
    }
    for place, part in parts.items():
        page = page.replace(place, part, 1)
    return page


def _part(name):
    return resources.files("mixedbag.report").joinpath("page", name).read_text("utf-8")
