"""The facts of the catalogue: one entry a data set."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mixedbag.datasets._formats import hdf5
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.activity import read_batteryless, read_chest
from mixedbag.datasets.readers import read


@dataclass(frozen=True)
class Entry:
    """A data set: its files below the data folder, how to read them, and what they hold.

    `size` is (bags, positive bags, instances, features) for bags, (rows, features) for tables, and
    (recordings, samples, features) for recordings.
    """

    name: str
    kind: str  # "bags", "table" or "recordings"
    description: str
    published: str
    url: str
    files: tuple
    size: tuple
    load: Callable  # from the list of paths

    @property
    def summary(self):
        """The size in words."""
        if self.kind == "bags":
            bags, positive, instances, features = self.size
            return f"{bags} bags ({positive}+/{bags - positive}−), {instances} × {features}"
        if self.kind == "table":
            return f"{self.size[0]} rows × {self.size[1]}"
        return f"{self.size[0]} recordings, {self.size[1]} samples × {self.size[2]}"


def _bags(**options):
    return lambda paths: read(paths[0], **options)


def _table(path, target, **options):
    from mixedbag.tables import read_rows

    return read_rows(path, target, **options)


def _classes(target, **options):
    return lambda paths: _table(paths[0], target, **options)


def _numbers(target, **options):
    """As `_classes`, with a target that is measured: whole numbers are no classes."""

    def load(paths):
        table = _table(paths[0], target, **options)
        return replace(table, y=table.y.astype(np.float64))

    return load


def _words(text):
    return text.split()


_MUSK = "Dietterich, Lathrop & Lozano-Pérez, Solving the multiple instance problem (1997)"
_COREL = "Andrews, Tsochantaridis & Hofmann, SVMs for multiple-instance learning (2003)"
_ANDREWS = "http://www.cs.columbia.edu/~andrews/mil/datasets.html"
_MUTAGENESIS = "Srinivasan, Muggleton & King, Theories for mutagenicity (1996)"
_TRAINS = "Michie, Muggleton, Page & Srinivasan, The East-West challenge (1994)"
_PROBLEMS = "https://www.miproblems.org"
_WEKA = "https://waikato.github.io/weka-wiki/multi_instance_classification/"
_UCI = "https://archive.ics.uci.edu/dataset/"

_BAG_SETS = [
    Entry(
        "musk1",
        "bags",
        "Molecules (bags) in the shapes they can take (instances): is it a musk?",
        _MUSK,
        _UCI + "74",
        ("musk/clean1.data",),
        (92, 47, 476, 166),
        _bags(),
    ),
    Entry(
        "musk2",
        "bags",
        "As musk1, with other molecules and many more shapes a molecule",
        _MUSK,
        _UCI + "75, as table clean2 of https://github.com/EpistasisLab/pmlb",
        ("musk/clean2.tsv.gz",),
        (102, 39, 6598, 166),
        _bags(bag="molecule_name", label="target", instance="conformation_name"),
    ),
    *(
        Entry(
            name,
            "bags",
            f"Photographs (bags) in segments (instances): does it show {article} {name}?",
            _COREL,
            _ANDREWS,
            (f"corel/{name}.data",),
            (200, 100, instances, 230),
            _bags(),
        )
        for name, article, instances in (
            ("elephant", "an", 1391),
            ("fox", "a", 1320),
            ("tiger", "a", 1220),
        )
    ),
    *(
        Entry(
            f"trec9-{number}",
            "bags",
            "Medical articles (bags) in overlapping passages (instances), sparse words: "
            f"is it about topic {number}?",
            _COREL,
            _ANDREWS,
            (f"trec9/sparse_trec{number}.data",),
            (400, 200, instances, features),
            _bags(),
        )
        for number, instances, features in (
            (1, 3224, 66552),
            (2, 3344, 66153),
            (3, 3246, 66144),
            (4, 3391, 67085),
            (7, 3367, 66823),
            (9, 3300, 66627),
            (10, 3453, 66082),
        )
    ),
    *(
        Entry(
            f"mutagenesis-{part}",
            "bags",
            f"Molecules (bags) as {what} (instances): does it cause mutations?",
            _MUTAGENESIS,
            _PROBLEMS,
            (file,),
            (188, 125, instances, features),
            _bags(),
        )
        for part, what, file, instances, features in (
            ("atoms", "atoms", "mutagenesis/atoms.csv", 1618, 10),
            ("bonds", "bonds with their atoms", "mutagenesis/bonds.csv", 3995, 16),
            ("chains", "pairs of adjacent bonds", "mutagenesis/chains_totals.data", 5349, 24),
        )
    ),
    *(
        Entry(
            name.lower(),
            "bags",
            f"Trains (bags) with cars (instances): does it go {direction}?",
            _TRAINS,
            _WEKA,
            (f"trains/{name}.arff",),
            (20, 10, 213, 24),
            _bags(),
        )
        for name, direction in (("eastWest", "east"), ("westEast", "west"))
    ),
]

_TABLES = [
    Entry(
        "usps",
        "table",
        "Handwritten digits of 16 × 16 pixels; `split` is train or test",
        "Hull, A database for handwritten text recognition research (1994)",
        "https://www.kaggle.com/datasets/bistaumanga/usps-dataset",
        ("usps/usps.h5",),
        (9298, 256),
        lambda paths: hdf5.read_hdf5(Source(paths[0])),
    ),
    Entry(
        "spambase",
        "table",
        "Word and character frequencies of e-mails: is it spam (1)?",
        "Hopkins, Reeber, Forman & Suermondt (1999)",
        _UCI + "94",
        ("uci/spambase.data",),
        (4601, 57),
        _classes("58"),
    ),
    Entry(
        "cmc",
        "table",
        "Contraceptive method: none (1), long-term (2), short-term (3)",
        "Lim, Loh & Shih (2000)",
        _UCI + "30",
        ("uci/cmc.data",),
        (1473, 9),
        _classes("contraceptive_method_use", header=True),
    ),
    Entry(
        "german",
        "table",
        "Credit applications in the 24-column numeric form: good (1) or bad (2)",
        "Hofmann (1994)",
        _UCI + "144",
        ("uci/german.data-numeric.txt",),
        (1000, 24),
        _classes("25"),
    ),
    Entry(
        "auto-mpg",
        "table",
        "Fuel consumption of cars in miles a gallon; six horsepowers are missing",
        "Quinlan (1993)",
        _UCI + "9",
        ("uci/auto-mpg.data",),
        (398, 7),
        _numbers(
            "mpg",
            names=_words(
                "mpg cylinders displacement horsepower weight acceleration year origin car"
            ),
            drop=("car",),
            delimiter=" ",
        ),
    ),
    Entry(
        "housing",
        "table",
        "Median value of homes in suburbs of Boston, in thousands of dollars",
        "Harrison & Rubinfeld (1978)",
        "http://lib.stat.cmu.edu/datasets/boston",
        ("uci/housing.data",),
        (506, 13),
        _numbers(
            "MEDV",
            names=_words("CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV"),
            delimiter=" ",
        ),
    ),
    Entry(
        "cpu-small",
        "table",
        "Share of time that processors run in user mode, from twelve system counters",
        "Rasmussen et al., the DELVE archive (1996)",
        "https://www.cs.toronto.edu/~delve/data/comp-activ/desc.html",
        ("uci/cpu_small.data",),
        (8192, 12),
        _numbers(
            "usr",
            names=_words(
                "usr lread lwrite scall sread swrite fork exec rchar wchar runqsz freemem freeswap"
            ),
        ),
    ),
    Entry(
        "breast-cancer-wisconsin",
        "table",
        "Cell measurements: benign (2) or malignant (4); 16 values are missing",
        "Wolberg & Mangasarian (1990)",
        _UCI + "15",
        ("uci/breast-cancer-wisconsin.csv",),
        (699, 9),
        _classes(
            "class",
            names=_words(
                "id thickness size_uniformity shape_uniformity adhesion epithelial_size "
                "bare_nuclei chromatin nucleoli mitoses class"
            ),
            drop=("id",),
        ),
    ),
    Entry(
        "dermatology",
        "table",
        "Six skin diseases (1 is psoriasis); eight ages are missing",
        "Güvenir, Demiröz & İlter (1998)",
        _UCI + "33",
        ("uci/dermatology.data",),
        (366, 34),
        _classes("Classification", header=True),
    ),
    Entry(
        "ionosphere",
        "table",
        "Radar returns: good (g) or bad (b)",
        "Sigillito, Wing, Hutton & Baker (1989)",
        _UCI + "52",
        ("uci/ionosphere.data",),
        (351, 34),
        _classes("35"),
    ),
]

_RECORDINGS = [
    Entry(
        "chest",
        "recordings",
        "Accelerometer on the chest of six people through seven activities, 52 Hz",
        "Casale, Pujol & Radeva, Personalization and user verification in wearable systems (2012)",
        _UCI + "287",
        tuple(f"activity/chest/{person}.csv" for person in range(1, 7)),
        (6, 825946, 3),
        read_chest,
    ),
    Entry(
        "batteryless",
        "recordings",
        "Battery-less wearable sensor on older people in two rooms, four activities",
        "Shinmoto Torres, Ranasinghe, Shi & Sample, Sensor enabled wearable RFID technology (2013)",
        _UCI + "427",
        (
            *(
                f"activity/batteryless/S1_Dataset/d1p{trial:02d}{sex}"
                for trial, sex in enumerate("M" * 7 + "F" * 28 + "M" * 13 + "F" * 12, start=1)
            ),
            *(
                f"activity/batteryless/S2_Dataset/d2p{trial:02d}{sex}"
                for trial, sex in enumerate("F" * 17 + "M" * 5 + "F" * 5, start=1)
            ),
        ),
        (87, 75128, 3),
        read_batteryless,
    ),
]

ENTRIES = {entry.name: entry for entry in (*_BAG_SETS, *_TABLES, *_RECORDINGS)}
