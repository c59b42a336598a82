"""The page of an evaluation: figures, confusion and the bags answered worst. It needs no script."""

from html import escape
from importlib import resources
from pathlib import Path

from mixedbag._digits import in_digits
from mixedbag._files import written_whole

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body><main><h1>{title}</h1><p>{opening}</p>{sections}</main></body></html>
"""


def write_evaluation(facts, path):
    """Write what `mixedbag evaluate` found as one HTML file."""
    with written_whole(Path(path)) as file:
        file.write(evaluation_page(facts).encode())


def evaluation_page(facts):
    """The page as text: HTML with its style inside."""
    levels = [name for name in ("of bags", "of instances") if name in facts]
    intervals = facts["95 % intervals"]
    figures = [
        [
            name,
            *(_figure(facts[level].get(name)) for level in levels),
            " – ".join(_figure(end) for end in intervals.get(name, ())),
        ]
        for name in facts["of bags"]
    ]
    sections = [_section("Figures", ["", *levels, "95 % interval of bags"], figures)]
    if "confusion" in facts:
        rows = [
            [word, *(f"{value:g}" for value in row)]
            for word, row in zip(facts["classes"], facts["confusion"])
        ]
        sections.append(_section("Confusion", ["true \\ answered", *facts["classes"]], rows))
    if facts.get("least right"):
        columns = list(facts["least right"][0])
        rows = [[str(line[c]) for c in columns] for line in facts["least right"]]
        sections.append(_section("The bags answered worst", columns, rows))
    far = facts.get("far outside of what was learned from")
    opening = f"{facts['bags']} bags, {facts['instances']} instances." + (
        f" {far} of these bags lie far outside of what the model learned from." if far else ""
    )
    title = escape(f"{Path(facts['model']).name} on {Path(facts['table']).name}")
    style = resources.files("mixedbag.report").joinpath("page", "report.css").read_text("utf-8")
    return _PAGE.format(title=title, style=style, opening=opening, sections="".join(sections))


def _section(title, columns, rows):
    head = "".join(f"<th>{escape(str(column))}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return (
        f"<section><h2>{escape(title)}</h2><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></section>"
    )


def _figure(value):
    return "" if value is None else in_digits(value)
