"""Writes the reference: every public name of every public module, on exactly one page.

Nothing is listed by hand. A module that no group names is put on a page of its own, so that what is
new shows the day it lands.
"""

import importlib
import inspect
import pkgutil

import mixedbag
from _tools import capabilities, commands
from _tools.files import write_if_new

# Tasks, and the modules whose names they gather. Learners are put under their rules instead.
GROUPS = {
    "data": ("Data as bags", ["mixedbag", "mixedbag.bags", "mixedbag.datasets", "mixedbag.tables"]),
    "compare": (
        "Comparing, choosing, reporting",
        ["mixedbag.comparison", "mixedbag.report", "mixedbag.model_selection", "mixedbag.metrics"],
    ),
    "inspect": ("Pictures and explanations", ["mixedbag.inspection"]),
    "sure": ("Intervals, and tables of groups", ["mixedbag.uncertainty", "mixedbag.ecological"]),
    "wrap": (
        "Any estimator on bags, any learner on windows",
        ["mixedbag.wrappers", "mixedbag.sequence"],
    ),
    "save": ("Saving and loading", ["mixedbag.io", "mixedbag.exceptions"]),
    "pieces": ("Poolings, and pieces of boosting", ["mixedbag.pooling", "mixedbag.boosting"]),
    "deep": ('Networks with attention: the extra "torch"', ["mixedbag.deep"]),
    "engines": ("Where sums are computed", ["mixedbag.engines"]),
    "own": (
        "Writing a learner of your own",
        ["mixedbag.base", "mixedbag.counts", "mixedbag.testing", "mixedbag.learners"],
    ),
}
NO_PYTHON = {"mixedbag.cli"}  # a command line: its own page shows it
RULE_TITLES = {
    "any": "Any: one positive instance is enough",
    "unknown": "Unlabelled examples",
    "majority": "Majority: the class of most instances",
    "count": "Counts and shares of classes",
    "proportion": "Shares of classes",
    "sum": "Totals and means",
    "mean": "Means",
    "sequence": "In time: sequences",
}


def public_modules():
    """The modules that users import from, by name."""
    names = ["mixedbag"]
    for info in pkgutil.iter_modules(mixedbag.__path__, "mixedbag."):
        if not info.name.rpartition(".")[2].startswith("_") and info.name not in NO_PYTHON:
            names.append(info.name)
    return names


def public_names(module_name):
    """The names a module lists, or the classes and functions it defines."""
    module = importlib.import_module(module_name)
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, member in vars(module).items()
            if not name.startswith("_")
            and (inspect.isclass(member) or inspect.isfunction(member))
            and member.__module__ == module_name
        ]
    return [name for name in listed if not name.startswith("__")]


def plan():
    """Page -> (title, [(heading, [paths])]): every public object once, learners under rules."""
    rows = capabilities.table()
    learners = {row.path for row in rows}
    seen, pages = set(), {}
    for rule, title in RULE_TITLES.items():
        of_rule = [row.path for row in rows if row.rules[0] == rule]
        if of_rule:
            homes = sorted({path.rpartition(".")[0] for path in of_rule})
            sections = [(home, [p for p in of_rule if p.startswith(f"{home}.")]) for home in homes]
            pages[f"rule-{rule}"] = (title, sections)
    grouped = {module for _, modules in GROUPS.values() for module in modules}
    groups = dict(GROUPS)
    for module in public_modules():
        if module not in grouped:
            groups[module.rpartition(".")[2]] = (f"`{module}`", [module])
    for page, (title, modules) in groups.items():
        sections = []
        for module in modules:
            paths = []
            for name in public_names(module):
                thing = getattr(importlib.import_module(module), name)
                path = f"{module}.{name}"
                if path in learners or _identity(thing, path) in seen:
                    continue
                seen.add(_identity(thing, path))
                paths.append(path)
            if paths:
                sections.append((module, paths))
        if sections:
            pages[page] = (title.replace("`", ""), sections)
    return pages


def _identity(thing, path):
    """The same object under two paths is documented once."""
    return id(thing) if inspect.isclass(thing) or inspect.isfunction(thing) else path


def page_text(title, sections):
    """A page of tables that lead to a page an object."""
    lines = [title, "=" * len(title), ""]
    for module, paths in sections:
        lines += [module, "-" * len(module), "", _first_line(module), ""]
        lines += [
            f".. currentmodule:: {module}",
            "",
            ".. autosummary::",
            "   :toctree: generated",
            "",
        ]
        lines += [f"   {path.removeprefix(module + '.')}" for path in paths] + [""]
    return "\n".join(lines)


def _first_line(module):
    text = inspect.getdoc(importlib.import_module(module)) or ""
    return " ".join(text.split("\n\n")[0].split())


def learners_text():
    """The table of learners by capability."""
    heads = [
        "learner", "rules", "scores instances", "probabilities", "sparse", "missing values",
        "weights", "several classes", "float32 as it is", "on a cluster", "scale first",
        "cost of n bags",
    ]  # fmt: skip
    lines = [
        ":html_theme.sidebar_secondary.remove: true", "",
        "Learners by what they can do", "============================", "",
        "Asked of the classes themselves when this page was built. Every learner answers about",
        "bags *and* about instances, and can be saved.", "",
        "- *Scores instances*: by itself. The others know bags only, and say of an instance what",
        "  they would say of a bag of one.",
        "- *Several classes* are learned one against the rest where the method knows two.",
        "- *float32 as it is*: a table in single precision is not copied, which a test watches",
        "  (of margin learners with a linear kernel). All other learners take such tables too.",
        "- *Scale first*: features should be standardised; ``compare`` does it by itself.",
        "- *Cost of n bags*: how the seconds of a fit grow with bags of one size, as",
        "  ``python -m benchmarks product/effort`` measured it on 40 to 2,000 bags (below 1",
        "  where most of the time does not depend on them). *Its limit* has a learner that",
        "  searches until its time limit; learners that ``compare`` leaves out were not measured.",
        "", ".. list-table::", "   :header-rows: 1", "   :class: capabilities", "",
    ]  # fmt: skip
    lines += _cells(heads)
    for row in capabilities.table():
        marks = [
            row.instances,
            row.probabilities,
            row.sparse,
            row.missing,
            row.weights,
            row.multiclass,
            row.single,
            row.cluster,
            row.scaling,
        ]
        link = f":py:class:`~{row.path}`"
        lines += _cells([link, ", ".join(row.rules), *(_mark(mark) for mark in marks), _cost(row)])
    return "\n".join([*lines, ""])


def _cost(row):
    if row.limited:
        return "its limit"
    return "" if row.growth is None else f"n\\ :sup:`{row.growth:.1f}`"


def _cells(values):
    return [f"   {'* -' if k == 0 else '  -'} {value}" for k, value in enumerate(values)]


def _mark(value):
    return "" if value is None else "✓" if value else "–"


def checks_text():
    """The numbered checks of a comparison, from their own files."""
    from mixedbag.comparison import checks

    lines = [
        "Checks of a comparison", "======================", "",
        "What ``mixedbag compare`` looks for in the data and in its own answer, by number. A",
        "warning says that figures or answers may mislead, a note that they can be improved.", "",
    ]  # fmt: skip
    for info in pkgutil.iter_modules(checks.__path__):
        if not info.name[1:3].isdigit():
            continue
        check = importlib.import_module(f"mixedbag.comparison.checks.{info.name}")
        title = f"{int(info.name[1:3])}. {check.TITLE}"
        lines += [
            title,
            "-" * (len(title) + 4),
            "",
            f"*{check.LEVEL}*",
            "",
            inspect.getdoc(check),
            "",
        ]
    return "\n".join(lines)


def short_names():
    """How pages write a public class or function -> its full name, where that is unambiguous."""
    full = {p for _, sections in plan().values() for _, paths in sections for p in paths}
    found = {}
    for path in sorted(full):
        for short in (path, path.removeprefix("mixedbag."), path.rpartition(".")[2]):
            found.setdefault(short, set()).add(path)
    plain_words = ("load", "save", "read", "info", "paths", "app", "main", "Sum", "Mean", "Max")
    return {s: min(p) for s, p in found.items() if len(p) == 1 and s not in plain_words}


def write(folder):
    """Write the reference into `folder`; pages that are gone are removed."""
    pages = {name: page_text(*page) for name, page in plan().items()}
    pages["learners"] = learners_text()
    pages["commands"] = commands.page()
    pages["checks"] = checks_text()
    rules = [name for name in pages if name.startswith("rule-")]
    tasks = [n for n in pages if n not in rules and n not in ("learners", "commands", "checks")]
    index = [
        "Reference",
        "=========",
        "",
        "Every public class and function, and every command.",
        "",
    ]
    for caption, names in (
        ("Learners", ["learners", *rules]),
        ("Tasks", tasks),
        ("Command line", ["commands", "checks"]),
    ):
        index += [
            ".. toctree::",
            "   :maxdepth: 1",
            f"   :caption: {caption}",
            "",
            *(f"   {n}" for n in names),
            "",
        ]
    pages["index"] = "\n".join(index)
    for name, text in pages.items():
        write_if_new(folder / f"{name}.rst", text)
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
