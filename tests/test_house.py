"""The rooms of the house: who may import whom, and what a public module shows."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import mixedbag
from mixedbag.boosting._loop import BoostedBags
from mixedbag.learners import FAMILIES, OPTIONAL, all_learners

SOURCE = Path(mixedbag.__file__).parent

# A room may import rooms of its own line and of the lines above it, at the top of a file or inside
# a function. Engines come before the base: they place blocks of bags and know no learner, while
# every learner is fitted through one; solvers add up what blocks say. Wrappers come before the
# families: they need the base alone, and some learners describe bags with `BagFeatures`.
FLOORS = [
    {"_digits", "_version", "_nursery", "_parameters", "_segments"},
    {"_tables", "_files", "_on_disk", "_overlap"},
    {"exceptions", "_frames", "_per_cent", "_threads", "_values"},
    {"bags", "pooling"},
    {
        "_validation",
        "_kernels",
        "_once",
        "_pairs",
        "_prefetch",
        "_clusters",
        "_account",
        "_sorting",
        "_span",
        "_wide",
    },
    {"_annealing", "_described", "_group_effects", "_laws", "_random_trees", "_unexplained"},
    {"_weight_posterior"},
    {"_forests"},
    {"_evidence", "_contributions", "_instance_scores", "_logistic", "_origin", "_permutation"},
    {"engines"},
    {"_solvers"},
    {"base"},
    {"counts"},
    {"_spread", "wrappers"},
    {*FAMILIES, *OPTIONAL},
    {"learners", "metrics", "model_selection", "_saved", "_model_archive", "_model_checks"},
    {"_model_file", "io"},
    {"datasets", "tables"},
    {"inspection", "_linear_scores", "_refits", "uncertainty", "ecological"},
    {"testing"},
    {"comparison"},
    {"report"},
    {"cli"},
]
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


# The calls upwards: builders of bags that hand their table to the one reader of tables.
BUILDERS = {("bags", "datasets"), ("engines", "tables")}


def files():
    return sorted(SOURCE.rglob("*.py"))


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `from mixedbag import io` imports a room, `from mixedbag import Bags` does not
            inner = [f"mixedbag.{alias.name}" for alias in node.names]
            names = inner if node.module == "mixedbag" else [node.module or ""]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "mixedbag" and len(parts) > 1 and parts[1] in FLOOR:
                yield parts[1]


def test_every_module_has_a_floor():
    rooms = {room_of(path) for path in files()} - {"__init__", "__main__"}
    assert rooms <= set(FLOOR), f"say in FLOORS where these belong: {sorted(rooms - set(FLOOR))}"


def test_rooms_import_only_what_stands_above_them():
    upwards = {
        (room_of(path), other): str(path.relative_to(SOURCE))
        for path in files()
        if room_of(path) in FLOOR
        for other in imported_rooms(path)
        if FLOOR[other] > FLOOR[room_of(path)]
    }
    assert upwards.keys() == BUILDERS


def test_families_do_not_import_each_other():
    families = FLOORS[FLOOR["classics"]]
    for path in files():
        if room_of(path) in families:
            others = set(imported_rooms(path)) & families - {room_of(path)}
            assert not others, f"{path.relative_to(SOURCE)} imports {others}"


PUBLIC = [
    "mixedbag",
    "mixedbag.bags",
    "mixedbag.base",
    *(f"mixedbag.{family}" for family in FAMILIES),
    "mixedbag.comparison",
    "mixedbag.counts",
    "mixedbag.datasets",
    "mixedbag.ecological",
    "mixedbag.engines",
    "mixedbag.exceptions",
    "mixedbag.inspection",
    "mixedbag.io",
    "mixedbag.learners",
    "mixedbag.metrics",
    "mixedbag.model_selection",
    "mixedbag.pooling",
    "mixedbag.testing",
    "mixedbag.uncertainty",
    "mixedbag.wrappers",
    *(f"mixedbag.{family}.{info.name}" for family in FAMILIES
      for info in pkgutil.iter_modules([str(SOURCE / family)]) if not info.name.startswith("_")),
]  # fmt: skip


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_lists_its_documented_api_and_nothing_else(name):
    if name == "mixedbag.engines":
        pytest.importorskip("distributed")  # an extra
    module = importlib.import_module(name)
    assert module.__doc__
    listed = [member for member in module.__all__ if not member.startswith("__")]
    assert listed, f"{name} is public and shows nothing: begin its name with an underscore"
    for member in listed:
        assert inspect.getdoc(getattr(module, member)), f"{name}.{member} has no docstring"
        for method, function in getattr(getattr(module, member), "__dict__", {}).items():
            if callable(function) and not method.startswith("_"):
                assert inspect.getdoc(getattr(getattr(module, member), method)), method
    if name.count(".") > 1:  # a learner's own file: people import it from its family
        return
    extra = {n for n in dir(module) if not n.startswith("_")} - set(module.__all__)
    if name == "mixedbag":
        extra -= {path.stem for path in SOURCE.iterdir()}
    assert not extra, f"dir({name}) also shows {sorted(extra)}"


def public_modules():
    found = pkgutil.walk_packages(mixedbag.__path__, "mixedbag.")
    return ["mixedbag", *(info.name for info in found if "._" not in info.name)]


def public_functions(module):
    """What a public module shows: functions, and the methods of classes, inherited ones too.

    The constructor of a learner is no part of it: `_parameter_constraints` says what it takes.
    """
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    for name in names:
        shown = getattr(module, name)
        if not inspect.isclass(shown):
            yield name, shown
            continue
        for base in shown.__mro__:
            for method, attribute in vars(base).items():
                constructs = method == "__init__" and not issubclass(shown, BaseEstimator)
                if not method.startswith("_") or constructs:
                    yield f"{name}.{method}", attribute


def function_of(attribute):
    """The function behind a class method, a property, or a method that is there on a condition."""
    for name in ("__func__", "fget", "func", "fn"):
        attribute = getattr(attribute, name, attribute)
    return attribute


def is_annotated(function):
    signature = inspect.signature(function)
    given = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    return not any(thing.annotation is thing.empty for thing in given) and (
        signature.return_annotation is not signature.empty
    )


@pytest.mark.parametrize("name", public_modules())
def test_public_functions_are_annotated(name):
    if name == "mixedbag.engines":  # what it shows of clusters is imported when asked for
        pytest.importorskip("distributed")
    bare = []
    for shown, attribute in public_functions(pytest.importorskip(name)):
        function = function_of(attribute)
        ours = inspect.isfunction(function) and function.__module__.startswith("mixedbag")
        if ours and function.__name__ != "<lambda>" and not is_annotated(function):
            bare.append(f"{shown}{inspect.signature(function)}")
    assert not bare


def described_parameters(learner):
    """What the docstring of a learner says of each of its parameters."""
    sections = re.split(r"^(\w[\w ]*)\n-+\n", inspect.getdoc(learner), flags=re.MULTILINE)
    text = sections[sections.index("Parameters") + 1].rstrip()
    entries = [entry.partition("\n") for entry in re.split(r"\n(?=\S)", text)]
    return {
        name: " ".join([kind, *words.split()])
        for head, _, words in entries
        for names, _, kind in [head.partition(" : ")]
        for name in names.split(", ")
    }


@pytest.mark.parametrize("learner", all_learners(), ids=lambda learner: learner.__name__)
def test_a_learner_describes_its_own_parameters(learner):
    described = described_parameters(learner)
    assert set(described) == set(learner._get_param_names())
    for name, words in described.items():
        assert not re.search(r"as in (:class:)?`(?!sklearn)", words), (
            f"{name} is described elsewhere"
        )


def test_boosters_describe_what_they_share_in_the_same_words():
    boosters = [learner for learner in all_learners() if issubclass(learner, BoostedBags)]
    assert len(boosters) > 1
    for name in BoostedBags._get_param_names():
        assert len({described_parameters(booster)[name] for booster in boosters}) == 1, name
