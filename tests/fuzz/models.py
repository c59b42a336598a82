"""Attacks on model files: hostile ones by hand, damaged ones by chance.

``cases(seed)`` yields endless pairs of name and content; ``run(content)`` loads one, asks it about
bags and says what happened. A crash, a hang and a marker file are what must never come of it.
"""

import copy
import io
import json
import random
import struct
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

import mixedbag
from mixedbag.exceptions import InputError
from tests.models.cases import answers
from tests.models.test_old_models import HERE

MARKER = "a-model-ran-code"
_RELEASE = HERE / "0.1.0"
# Small models that between them hold every kind of node and everything that is indexed with.
_SEEDS = (
    "AggregateForestClassifier",
    "AggregateKNeighborsClassifier",
    "AggregateKNeighborsRegressor-sparse",
    "ARHMMClassifier",
    "BagFeatures-RandomForestClassifier7",
    "BagFeatures-SVC1",
    "BagMarginSVC-RandomState",
    "CitationKNN",
    "CitationKNN-sparse",
    "ExpRegBoost",
    "InstanceWise-SelectKBest",
    "MARClassifier-three",
    "SpreadLabels-any-KNeighborsClassifier5",
    "compare-sum",
    "fit-text-table",
)


def seeds():
    """Sound models by name, as files of an old release hold them."""
    with zipfile.ZipFile(_RELEASE / "models.zip") as archive:
        return {name: archive.read(f"{name}.skops") for name in _SEEDS}


def run(content):
    """Load a model file and ask it: "refused", "answered", or the exception that came later.

    A model that was never fitted loads and says so when asked, as it does elsewhere; one that does
    not say how many features it needs refuses bags of others.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.skops"
        path.write_bytes(content)
        try:
            model = mixedbag.load(path)
        except ValueError:
            return "refused"
        try:
            answers(model, _bags(getattr(model, "n_features_in_", 3)))
        except (NotFittedError, InputError):
            return "refused"
        except Exception as error:
            return type(error).__name__
        return "answered"


def _bags(width):
    """Two bags with as many features as a model asks for, long enough to be sequences."""
    rng = np.random.default_rng(0)
    return mixedbag.Bags.from_list([rng.normal(size=(40, min(width, 1000))) for _ in range(2)])


def cases(seed=0):
    """A few hostile files, then damaged ones without end."""
    rng = random.Random(seed)
    yield from rng.sample(list(hostile()), 20)
    yield from damaged(rng)


def damaged(rng):
    """Sound models with a piece changed, lost or moved, without end."""
    sound = seeds()
    while True:
        name = rng.choice(_SEEDS)
        how = rng.choice((_flip, _cut, _splice, _spoil_schema, _spoil_schema, _spoil_array))
        try:
            content = how(sound[name], rng)
        except (KeyError, IndexError, TypeError, ValueError):
            continue  # this model has nothing to spoil in that way
        yield f"{name}{how.__name__}", content


# Files -------------------------------------------------------------------------------------------


def unpack(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members, compression=zipfile.ZIP_STORED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def with_schema(content, change):
    """The file with its schema changed in place by a function, or replaced by what it returns."""
    members = unpack(content)
    schema = json.loads(members["schema.json"])
    schema = change(schema) or schema
    return pack({**members, "schema.json": json.dumps(schema).encode()})


def nodes(node):
    """All nodes of a schema."""
    if isinstance(node, dict):
        if "__loader__" in node:
            yield node
        for part in node.values():
            yield from nodes(part)
    elif isinstance(node, list):
        for part in node:
            yield from nodes(part)


def node(loader, name="builtins.str", **fields):
    home, _, last = name.rpartition(".")
    return {"__loader__": loader, "__module__": home, "__class__": last, "__id__": 1, **fields}


def scalar(value):
    return node("JsonNode", content=json.dumps(value), is_json=True)


def several(*parts, kind="Tuple"):
    return node(f"{kind}Node", f"builtins.{kind.lower()}", content=list(parts))


def mapping(**parts):
    kinds = several(*(node("TypeNode") for _ in parts), kind="List")
    return node("DictNode", "builtins.dict", content=parts, key_types=kinds)


def _npy(array):
    target = io.BytesIO()
    np.save(target, array, allow_pickle=True)
    return target.getvalue()


# Hostile files -----------------------------------------------------------------------------------

_CODE = f"open({MARKER!r}, 'w').close()"
_IMPORTED = f"__import__('pathlib').Path({MARKER!r}).touch()"
# A callable, and arguments that make it leave a marker or do harm.
_CALLS = [
    ("numpy.testing.measure", [_CODE]),
    ("numpy.testing._private.utils.measure", [_CODE]),
    ("numpy.testing.rundocs", [f"{MARKER}.py"]),
    ("numpy.f2py.crackfortran.myeval", [_IMPORTED]),
    ("numpy.f2py.crackfortran.crackfortran", [MARKER]),
    ("numpy.f2py.main", []),
    ("numpy.f2py.run_main", [[MARKER]]),
    ("numpy.f2py.compile", [_CODE]),
    ("numpy.load", [f"{MARKER}.npy", None, True]),
    ("numpy.save", [MARKER, [1]]),
    ("numpy.savetxt", [MARKER, [1]]),
    ("numpy.fromfile", [MARKER]),
    ("numpy.memmap", [MARKER, "uint8", "w+", 0, [1]]),
    ("numpy.lib.format.open_memmap", [MARKER, "w+", "uint8", [1]]),
    ("numpy.ndarray.tofile", [MARKER]),
    ("numpy.distutils.exec_command.exec_command", [f"touch {MARKER}"]),
    ("numpy.random.seed", [0]),
    ("scipy.io.savemat", [MARKER, {}]),
    ("scipy.io.wavfile.write", [MARKER, 1, [1]]),
    ("scipy.sparse.load_npz", [MARKER]),
    ("scipy._lib._testutils.check_free_memory", [1]),
    ("scipy.optimize.minimize", [_CODE]),
    ("sklearn.datasets.fetch_openml", ["iris"]),
    ("sklearn.datasets.load_files", ["."]),
    ("sklearn.datasets.dump_svmlight_file", [[[1.0]], [1], MARKER]),
    ("sklearn.utils._testing.assert_run_python_script_without_output", [MARKER]),
    ("sklearn.externals.joblib.load", [MARKER]),
    ("joblib.load", [MARKER]),
    ("joblib.dump", [1, MARKER]),
    ("pickle.loads", [f"cos\nsystem\n(S'touch {MARKER}'\ntR."]),
    ("builtins.eval", [_IMPORTED]),
    ("builtins.exec", [_CODE]),
    ("builtins.open", [MARKER, "w"]),
    ("builtins.__import__", ["antigravity"]),
    ("builtins.getattr", ["", "join"]),
    ("os.system", [f"touch {MARKER}"]),
    ("posix.system", [f"touch {MARKER}"]),
    ("subprocess.Popen", [["touch", MARKER]]),
    ("subprocess.check_output", [["touch", MARKER]]),
    ("shutil.rmtree", [MARKER]),
    ("runpy.run_path", [MARKER]),
    ("importlib.import_module", ["antigravity"]),
    ("code.interact", []),
    ("timeit.timeit", [_CODE]),
    ("cProfile.run", [_CODE]),
    ("mixedbag.io.load", [MARKER]),
    ("mixedbag.io.save", [None, MARKER]),
    ("mixedbag.cli.main", []),
    ("mixedbag.report.write_report", [None, MARKER]),
    ("mixedbag._files.written_whole", [MARKER]),
    ("mixedbag.engines.DistributedBags", [None]),
    ("mixedbag.datasets.read", [MARKER]),
    ("mixedbag._saved.find", ["os.system"]),
    ("mixedbag._saved.importlib", []),
    ("mixedbag.wrappers.np.save", [MARKER, 1]),
    ("mixedbag.aggregate.tree.os.system", [MARKER]),
]


def _argument(value):
    if isinstance(value, list):
        return several(*map(_argument, value), kind="List")
    return mapping() if value == {} else scalar(value)


def _ways(name, arguments):
    """Every kind of node that skops might call or import something through."""
    given = several(*map(_argument, arguments))
    function = node("FunctionNode", name)
    yield "reduce", node("ConstructorFromReduceNode", name, content=given)
    yield "function", function
    yield "type", node("TypeNode", name)
    yield "object", node("ObjectNode", name, content=mapping())
    yield "list", node("ListNode", name, content=given["content"])
    yield "tuple", node("TupleNode", name, content=given["content"])
    yield "loss", node("LossNode", name, content=mapping(), __reduce__={"args": given})
    yield "tree", node("TreeNode", name, content=mapping(), __reduce__={"args": given})
    parts = {"func": function, "args": given, "kwds": mapping(), "namespace": scalar(None)}
    yield "partial", node("PartialNode", "functools.partial", content=parts)
    method = {"func": name.rpartition(".")[2], "obj": node("ObjectNode", name.rpartition(".")[0])}
    yield "method", node("MethodNode", name.rpartition(".")[0], content=method)
    factory = {"main": mapping(), "default_factory": function}
    yield "default", node("DefaultDictNode", "collections.defaultdict", content=factory)
    yield "operator", node("OperatorFuncNode", "operator.methodcaller", attrs=given)
    kinds = several(node("TypeNode", name), kind="List")
    yield "key", node("DictNode", "builtins.dict", content={"a": scalar(1)}, key_types=kinds)


def hostile():
    """Files made to run code, to crash the process, or to fill the memory; all must be refused."""
    sound = seeds()
    plain = sound["BagMarginSVC-RandomState"]
    for name, arguments in _CALLS:
        for way, attack in _ways(name, arguments):
            if way == "reduce":
                yield f"root {way} {name}", with_schema(plain, lambda s, a=attack: {**s, **a})
            yield f"inside {way} {name}", with_schema(plain, lambda s, a=attack: _put(s, a))
    yield from _no_models(plain)
    yield from _bad_archives(plain)
    yield from _bad_arrays(plain)
    yield from _bad_indices(sound)


def _put(schema, attack, attribute="C"):
    schema["content"]["content"][attribute] = attack


def _no_models(plain):
    """Sound nodes that are no model, or a model with methods of its own."""
    for name in ("list", "tuple"):
        attack = several(scalar(1), kind=name.title())
        yield f"root is a {name}", with_schema(plain, lambda s, a=attack: {**s, **a})
    yield "root is a dict", with_schema(plain, lambda s: {**s, **mapping(a=scalar(1))})
    yield "root is a text", with_schema(plain, lambda s: {**s, **scalar("model")})
    pooling = node("ObjectNode", "mixedbag.pooling.Max", content=mapping())
    yield "root is a pooling", with_schema(plain, lambda s: {**s, **pooling})
    for name in ("predict", "_pooling", "_rules", "_fitted", "fit", "__class__", "__dict__", "a b"):

        def shadow(schema, name=name):
            content = schema["content"]
            content["content"][name] = scalar("x")
            content["key_types"]["content"].append(node("TypeNode"))

        yield f"shadows {name}", with_schema(plain, shadow)

    def deep(schema):
        attack = scalar(1)
        for _ in range(300):
            attack = several(attack)
        _put(schema, attack)

    yield "deep", with_schema(plain, deep)
    text = b'{"__loader__":' * 100_000
    yield "deeper", pack({**unpack(plain), "schema.json": text})
    for text in (b"", b"[]", b"null", b"{}", b"\xff\xfe", b'{"__loader__": ["ObjectNode"]}'):
        yield f"schema {text!r}", pack({**unpack(plain), "schema.json": text})
        yield f"stamp {text!r}", pack({**unpack(plain), "mixedbag.json": text})
    cached = node("CachedNode", content=None)
    yield "cached", with_schema(plain, lambda s: _put(s, cached))
    listed = node("JsonNode", content="[1, [2]]", is_json=True)
    yield "json list", with_schema(plain, lambda s: _put(s, listed))
    generator = {"bit_generator": mapping(bit_generator=scalar("seed")), "seed_seq": mapping()}
    attack = node("RandomGeneratorNode", "numpy.random._generator.Generator", content=generator)
    yield "generator", with_schema(plain, lambda s: _put(s, attack))
    state = mapping(
        bit_generator=scalar("PCG64"), state=mapping(), has_gauss=scalar(0), gauss=scalar(0)
    )
    attack = node("RandomStateNode", "numpy.random.RandomState", content=state)
    yield "random state", with_schema(plain, lambda s: _put(s, attack))


def _bad_archives(plain):
    members = unpack(plain)
    zeros = _npy(np.zeros(2**20))
    yield "bomb", pack({**members, "zeros.npy": zeros}, zipfile.ZIP_DEFLATED)
    yield "lzma bomb", pack({**members, "zeros.npy": zeros}, zipfile.ZIP_LZMA)
    for name in ("../schema.json", "/etc/passwd", "a/b.npy", "C:\\x.npy", "schema.json/", "\n.npy"):
        yield f"member {name!r}", pack({**members, name: b""})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = io.BytesIO(plain)
        with zipfile.ZipFile(target, "a") as archive:
            archive.writestr("schema.json", b"{}")
    yield "two schemas", target.getvalue()
    for name in ("schema.json", "mixedbag.json"):
        yield f"no {name}", pack({k: v for k, v in members.items() if k != name})
    # A member that says it is longer than the file.
    lying = bytearray(plain)
    place = plain.index(b"PK\x01\x02")
    lying[place + 20 : place + 28] = struct.pack("<II", 2**31, 2**31)
    yield "lying size", bytes(lying)
    yield "half", plain[: len(plain) // 2]
    yield "nothing", b""


def _bad_arrays(plain):
    """Arrays that are not what their header says, in the place of one that is."""
    members = unpack(plain)
    name = next(name for name in members if name.endswith(".npy"))
    sound = members[name]
    objects = _npy(np.array([{"a": 1}], dtype=object))

    def header(text):
        body = text.encode().ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body

    wrong = {
        "pickled": objects,
        "empty": b"",
        "truncated": sound[:-1],
        "longer": sound + b"\0",
        "no header": sound[:9],
        "huge": header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,), }"),
        "huge number": header(f"{{'descr':'<f8','fortran_order':False,'shape':({10**12},),}}"),
        "nothing huge": header(f"{{'descr':'|V0','fortran_order':False,'shape':({10**15},),}}"),
        "empty texts": header(f"{{'descr':'<U0','fortran_order':False,'shape':({10**15},),}}"),
        "negative": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -3), }"),
        "minus": header("-" * 9000 + "1"),
        "code": header(f"{_IMPORTED}"),
        "objects": header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"\0" * 8,
        "hidden objects": header("{'descr':[('a','|O')],'fortran_order':False,'shape':(1,),}")
        + b"\0" * 8,
    }
    for what, content in wrong.items():
        yield f"array {what}", pack({**members, name: content})


def _bad_indices(sound):
    """Models whose arrays lead compiled code out of bounds."""
    edits = {
        "BagFeatures-RandomForestClassifier7": [
            ("nodes", "left_child", value) for value in (10**12, -7, 0, 2**62)
        ]
        + [("nodes", "right_child", value) for value in (10**12, 0)]
        + [("nodes", "feature", value) for value in (10**9, -5)],
        "AggregateForestClassifier": [
            *(("left", None, value) for value in (10**12, -1, 0)),
            *(("right", None, value) for value in (10**12, 0)),
            ("feature", None, 10**9),
            ("threshold", None, "short"),
            ("value", None, "short"),
        ],
        "ExpRegBoost": [
            ("feature", None, 10**9),
            ("feature", None, -1),
            ("threshold", None, "short"),
            ("left", None, "short"),
            ("missing", None, "short"),
        ],
        "ARHMMClassifier": [
            (name, None, "short")
            for name in ("theta_", "center_", "scale_", "transition_", "initial_", "covariances_")
        ],
        "BagFeatures-SVC1": [
            ("_n_support", None, 10**6),
            ("_n_support", None, "short"),
            ("support_vectors_", None, "short"),
            ("_dual_coef_", None, "short"),
            ("_intercept_", None, "empty"),
        ],
        "SpreadLabels-any-KNeighborsClassifier5": [("_y", None, 10**9), ("_y", None, "short")],
        "CitationKNN": [("_offsets", None, 10**9), ("_offsets", None, "short")],
    }
    for name, changes in edits.items():
        for attribute, field, value in changes:
            content = _edit_arrays(sound[name], attribute, field, value)
            yield f"{name} {attribute} {field or ''} {value}", content
    for name in ("BagFeatures-RandomForestClassifier7", "AggregateForestClassifier", "ExpRegBoost"):
        for width in (1, 0, -1, "3", None, 2.0):
            yield f"{name} width {width!r}", _edit_scalars(sound[name], "n_features_in_", width)
    for place in (-1, 625, 10**9):
        content = _edit_scalars(sound["BagMarginSVC-RandomState"], "pos", place)
        yield f"random place {place}", content
    for order in (-1, 5, 10**6, 1.0):
        yield f"order {order}", _edit_scalars(sound["ARHMMClassifier"], "order", order)
    for what, value in (("indices", 10**6), ("indices", -1), ("indptr", 10**6), ("shape", 10**9)):
        yield f"sparse {what} {value}", _edit_sparse(sound["CitationKNN-sparse"], what, value)
    for samples in (1, 10**9):
        content = _edit_scalars(sound["AggregateKNeighborsClassifier"], "n_samples_fit_", samples)
        yield f"neighbours {samples}", content
    bomb = _edit_sparse(sound["CitationKNN-sparse"], "data", "bomb")
    yield "sparse bomb", bomb
    yield "lying sparse bomb", bomb.replace(*_claimed(2**27 + 128, 1000))
    yield "sparse lzma", _edit_sparse(sound["CitationKNN-sparse"], "data", "lzma")


def _edit_arrays(content, attribute, field, value):
    """Spoil the arrays that any node keeps under an attribute's name."""
    members = unpack(content)
    for found in nodes(json.loads(members["schema.json"])):
        parts = found.get("content")
        if isinstance(parts, dict) and "file" in (parts.get(attribute) or {}):
            name = parts[attribute]["file"]
            array = np.load(io.BytesIO(members[name]))
            if value == "short":
                array = array[:-1]
            elif value == "empty":
                array = array[:0]
            else:
                array = array.astype(np.int64) if field is None else array
                (array if field is None else array[field]).flat[0] = value
            members[name] = _npy(array)
    return pack(members)


def _edit_scalars(content, attribute, value):
    def change(schema):
        for found in nodes(schema):
            parts = found.get("content")
            if isinstance(parts, dict) and attribute in parts:
                parts[attribute] = scalar(value)

    return with_schema(content, change)


def _claimed(size, instead):
    """The bytes of a size in a header, and those of another."""
    return struct.pack("<I", size), struct.pack("<I", instead)


def _edit_sparse(content, what, value):
    members = unpack(content)
    name = next(name for name in members if name.endswith(".npz"))
    arrays = dict(np.load(io.BytesIO(members[name])))
    if value == "bomb":
        arrays["data"] = np.zeros(2**24)
    elif value != "lzma":
        arrays[what][-1] = value
    parts = {f"{part}.npy": _npy(array) for part, array in arrays.items()}
    compression = zipfile.ZIP_LZMA if value == "lzma" else zipfile.ZIP_DEFLATED
    return pack({**members, name: pack(parts, compression)})


# Damage by chance --------------------------------------------------------------------------------


def _flip(content, rng):
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(content, rng):
    return content[: rng.randrange(len(content))]


def _splice(content, rng):
    a, b = sorted(rng.randrange(len(content)) for _ in range(2))
    return content[:a] + content[b:]


_VALUES = (None, 0, -1, 1, 10**12, 0.5, True, "", "x", "nan", [], {}, [[]], {"a": 1})


def _spoil_schema(content, rng):
    def change(schema):
        everything = list(nodes(schema))
        one, other = rng.choice(everything), copy.deepcopy(rng.choice(everything))
        what = rng.randrange(5)
        if what == 0:  # a node in another's place
            one.clear()
            one.update(other)
        elif what == 1:
            one[rng.choice(list(one))] = rng.choice(_VALUES)
        elif what == 2:
            del one[rng.choice(list(one))]
        elif what == 3:
            one.clear()
            one.update(scalar(rng.choice(_VALUES[:10])))
        else:
            one["__module__"], one["__class__"] = other["__module__"], other["__class__"]

    return with_schema(content, change)


def _spoil_array(content, rng):
    members = unpack(content)
    name = rng.choice([name for name in members if name.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    what = rng.randrange(5)
    if what == 0:
        array = array[:-1]
    elif what == 1:
        array = array.reshape(-1)
    elif what == 2:
        array = array.astype(rng.choice(("f4", "i8", "u1", "U3")))
    elif what == 3:
        array = np.concatenate([array, array])
    elif array.dtype.names:
        array[rng.choice(array.dtype.names)].flat[rng.randrange(array.size)] = rng.choice((-9, 99))
    else:
        values = (-1, 99, 2**40) if array.dtype.kind in "iu" else (np.nan, np.inf, 1e300)
        array.flat[rng.randrange(array.size)] = rng.choice(values)
    return pack({**members, name: _npy(array)})
