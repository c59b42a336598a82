"""Draws the drawings of the pages: ``python -m docs._tools.drawings``; a test compares them."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "drawings"
BLUE, ORANGE, GREY, INK = "#3564c7", "#e8743b", "#b4bac4", "#333b48"


def svg(width, height, parts):
    """A whole drawing."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="system-ui, DejaVu Sans, sans-serif">'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def text(x, y, words, size=14, colour=INK, anchor="middle", weight="normal"):
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def dot(x, y, colour, r=8, ring=None):
    rim = f' stroke="{ring}" stroke-width="2.5"' if ring else ""
    return f'<circle cx="{x}" cy="{y}" r="{r}" fill="{colour}"{rim}/>'


def sack(x, y, width=110, height=110):
    """The outline of a bag with its neck, left upper corner at (x, y)."""
    w, h = width, height
    body = (
        f"M{x + 0.27 * w} {y + 0.2 * h} C{x - 0.05 * w} {y + 0.45 * h} {x} {y + 0.98 * h} "
        f"{x + 0.25 * w} {y + h} H{x + 0.75 * w} C{x + w} {y + 0.98 * h} {x + 1.05 * w} "
        f"{y + 0.45 * h} {x + 0.73 * w} {y + 0.2 * h} Z"
    )
    neck = (
        f"M{x + 0.3 * w} {y + 0.18 * h} L{x + 0.24 * w} {y} Q{x + 0.5 * w} {y + 0.1 * h} "
        f"{x + 0.76 * w} {y} L{x + 0.7 * w} {y + 0.18 * h}"
    )
    line = f'fill="white" stroke="{INK}" stroke-width="2" stroke-linejoin="round"'
    return f'<path d="{neck}" {line}/><path d="{body}" {line}/>'


PLACES = [(0.3, 0.5), (0.55, 0.42), (0.72, 0.62), (0.42, 0.7), (0.62, 0.85), (0.28, 0.86)]


def bag(x, y, colours, label, below=True):
    """A bag with instances of the given colours, and its label under it."""
    parts = [sack(x, y)]
    parts += [dot(x + 110 * u, y + 110 * v, c) for (u, v), c in zip(PLACES, colours)]
    if below:
        parts.append(text(x + 55, y + 132, label, 15, weight="bold"))
    return parts


def arrow(x1, x2, y, words=""):
    return [
        f'<path d="M{x1} {y} H{x2 - 8} m-7 -6 l8 6 l-8 6" fill="none" stroke="{INK}" '
        'stroke-width="2" stroke-linecap="round"/>',
        text((x1 + x2) / 2, y - 12, words, 13),
    ]


def what_it_does():
    """Labelled bags in; answers about new bags and about single instances out."""
    hidden = [GREY] * 6
    parts = [text(150, 22, "what you have: labels of bags", 14, weight="bold")]
    parts += bag(20, 40, hidden[:5], "active")
    parts += bag(165, 40, hidden[:4], "not active")
    parts += bag(20, 210, hidden[:6], "active")
    parts += bag(165, 210, hidden[:5], "not active")
    parts += arrow(305, 395, 190, "mixedbag")
    parts += [text(560, 22, "what you get: answers at both levels", 14, weight="bold")]
    parts += bag(420, 40, [BLUE, ORANGE, BLUE, BLUE, BLUE], "active: 0.96")
    parts += bag(585, 40, [BLUE] * 4, "active: 0.03")
    parts += bag(420, 210, [BLUE, BLUE, BLUE, ORANGE, BLUE, ORANGE], "active: 0.99")
    parts += bag(585, 210, [BLUE, BLUE, BLUE, BLUE, BLUE], "active: 0.12")
    parts += [dot(438, 372, ORANGE, 7), text(452, 377, "the reason", 13, anchor="start")]
    parts += [dot(560, 372, BLUE, 7), text(574, 377, "the others", 13, anchor="start")]
    return svg(720, 392, parts)


def rules():
    """The same bag, labelled by each rule."""
    cases = [
        ("any", "“yes”", [BLUE, BLUE, ORANGE, BLUE, BLUE], "one is enough"),
        ("majority", "“orange”", [ORANGE, BLUE, ORANGE, ORANGE, BLUE], "the class of most"),
        ("count", "“2 of 5”", [ORANGE, BLUE, BLUE, ORANGE, BLUE], "how many"),
        ("sum", "“7.5 in all”", ["#f3b594", "#f6d5c3", ORANGE, "#f9e6db", "#ee9163"], "how much"),
    ]
    parts = []
    for k, (name, label, colours, meaning) in enumerate(cases):
        x = 20 + 145 * k
        parts.append(text(x + 55, 22, name, 15, weight="bold"))
        parts += bag(x, 36, colours, label)
        parts.append(text(x + 55, 188, meaning, 13, "#667080"))
    x = 610
    parts.append(text(x + 85, 22, "in time", 15, weight="bold"))
    wave = "M610 95 q8 -26 16 0 t16 0 t16 0 q4 -60 9 0 t9 0 t9 0 t9 0 q8 26 16 0 t16 0 t16 0 t16 0"
    parts.append(f'<rect x="657" y="56" width="38" height="78" fill="{ORANGE}" opacity="0.25"/>')
    parts.append(f'<path d="{wave}" fill="none" stroke="{INK}" stroke-width="2"/>')
    parts.append(text(x + 85, 168, "“walked”", 15, weight="bold"))
    parts.append(text(x + 85, 188, "somewhere in it", 13, "#667080"))
    return svg(790, 200, parts)


def two_worlds():
    """Labels of bags that two different worlds explain alike."""
    parts = []
    for x0, title, marks in (
        (30, "a world in which squares count", ("square",)),
        (400, "a world in which stars count", ("star",)),
    ):
        parts.append(text(x0 + 150, 22, title, 14, weight="bold"))
        for k, (label, things) in enumerate((("yes", "square star dot"), ("no", "dot dot dot"))):
            x = x0 + 160 * k
            parts.append(sack(x, 40, 130, 120))
            parts.append(text(x + 65, 184, f"“{label}”", 15, weight="bold"))
            for i, thing in enumerate(things.split()):
                colour = ORANGE if thing in marks else GREY
                parts.append(_shape(thing, x + 38 + 27 * i, 105 + 18 * (i % 2), colour))
    parts.append(text(365, 212, "the same labels: no bag tells which world it is", 14, "#667080"))
    return svg(730, 224, parts)


def _shape(kind, x, y, colour):
    if kind == "square":
        return f'<rect x="{x - 9}" y="{y - 9}" width="18" height="18" fill="{colour}"/>'
    if kind == "star":
        points = "0,-12 3,-4 11,-4 5,1 7,10 0,5 -7,10 -5,1 -11,-4 -3,-4"
        return f'<polygon points="{points}" transform="translate({x} {y})" fill="{colour}"/>'
    return dot(x, y, colour)


def flow():
    """Table, bags, learner, instance scores, pooling, bag scores."""
    steps = ["table", "Bags", "learner", "instance scores", "pooling", "bag scores"]
    parts, x = [], 10
    for k, step in enumerate(steps):
        width = 30 + 8.2 * len(step)
        parts.append(
            f'<rect x="{x}" y="14" width="{width}" height="40" rx="9" fill="#eef2fa" '
            f'stroke="{BLUE}" stroke-width="1.5"/>'
        )
        parts.append(text(x + width / 2, 39, step))
        x += width
        if k + 1 < len(steps):
            parts += arrow(x + 3, x + 31, 34)[:1]
            x += 34
    return svg(round(x + 10), 68, parts)


DRAWINGS = {
    "what-it-does.svg": what_it_does,
    "rules.svg": rules,
    "two-worlds.svg": two_worlds,
    "flow.svg": flow,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
