"""Reading a model file: everything is checked before the first object is built.

The format is that of skops: an archive with a tree of nodes (``schema.json``) and arrays. skops
imports and calls what a file names; this reader knows a dozen kinds of nodes, builds only types of
the register (`_saved`) and calls nothing else. `plan` walks the whole tree and returns a function
that builds the model; until that is called nothing named in the file is imported or made.
"""

import dataclasses
import json
import math
import re

import numpy as np

from mixedbag import _saved
from mixedbag._model_archive import Damaged, read_array, read_sparse

_DEPTH = 100  # nodes within nodes
_SCALARS = frozenset(
    ["bool", "bool_", "str_", "bytes_"]
    + [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    + ["float16", "float32", "float64"]
)
_KEYS = {"str": str, "int": int, "float": float}


class Reader:
    """Plans how to build the tree of nodes of an archive.

    Parameters
    ----------
    archive : Archive
    trusted : collection of str
        Names of further types and functions that may be imported.
    """

    def __init__(self, archive, trusted=()):
        self.archive = archive
        self.trusted = frozenset(trusted)
        self.refused = set()
        self._arrays = {}
        self._written = {}  # stable name → how the file has it

    @property
    def names(self):
        """The stable names that the planned nodes have."""
        return self._written.keys()

    def plan(self, node, depth=0):
        """A function without arguments that builds what `node` describes."""
        if not isinstance(node, dict) or depth > _DEPTH:
            raise Damaged("its nodes are nested too deeply, or are none")
        kind, name = node.get("__loader__"), f"{node.get('__module__')}.{node.get('__class__')}"
        planner = self._PLANNERS.get(str(kind))
        if planner is None or not re.fullmatch(r"[\w.]+", name):
            self.refused.add(f"{name[:80]!r} as {str(kind)[:40]}")
            return None
        public = _saved.public_name(name)
        self._written.setdefault(public, name)
        if name in self.trusted:
            return planner(self, node, name, True, depth + 1)
        return planner(self, node, public, public in self.trusted, depth + 1)

    def _several(self, nodes, depth):
        if not isinstance(nodes, list):
            raise Damaged("a list that is none")
        return [self.plan(node, depth) for node in nodes]

    def _of_type(self, name, expected):
        if name not in expected:
            self._refuse(name)

    def _refuse(self, name):
        self.refused.add(self._written.get(name, name))

    # One method a kind of node --------------------------------------------------------------------

    def _scalar(self, node, name, own, depth):
        value = json.loads(node["content"])
        if isinstance(value, (list, dict)):
            raise Damaged("a scalar that is none")
        return lambda: value

    def _list(self, node, name, own, depth):
        self._of_type(name, ("builtins.list",))
        parts = self._several(node["content"], depth)
        return lambda: [build() for build in parts]

    def _tuple(self, node, name, own, depth):
        self._of_type(name, ("builtins.tuple",))
        parts = self._several(node["content"], depth)
        return lambda: tuple(build() for build in parts)

    def _dict(self, node, name, own, depth):
        if not own:
            self._of_type(name, ("builtins.dict",))
        content, kinds = node["content"], node["key_types"]["content"]
        if not isinstance(content, dict) or len(kinds) != len(content):
            raise Damaged("a dictionary that is none")
        parts = [
            (_key(kind, key), self.plan(value, depth))
            for kind, (key, value) in zip(kinds, content.items())
        ]

        def build():
            made = _saved.find(name)() if own else {}
            made.update((key, build_one()) for key, build_one in parts)
            return made

        return build

    def _array(self, node, name, own, depth):
        home, _, last = name.rpartition(".")
        if home != "numpy" or (last != "ndarray" and last not in _SCALARS):
            self._refuse(name)
            return None
        if node["type"] == "json":
            return self._object_array(node, depth)
        array = self._file(node["file"], ".npy", read_array)
        if last == "ndarray":
            return lambda: array
        if array.ndim or type(array[()]).__name__ not in (last, last + "_"):
            raise Damaged(f"a {last} that is none")
        return lambda: array[()]

    def _object_array(self, node, depth):
        shape = tuple(json.loads(side["content"]) for side in node["shape"]["content"])
        nodes = node["content"]
        for side, below in zip(shape, [*shape[1:], None]):
            if not isinstance(nodes, list) or type(side) is not int or side < 0:
                raise Damaged("an array of another shape than it says")
            if below is not None:
                inner = [n["content"] for n in nodes]
                if any(len(part) != below for part in inner):
                    raise Damaged("an array of another shape than it says")
                nodes = [n for part in inner for n in part]
        if not shape or len(nodes) != math.prod(shape):
            raise Damaged("an array of another shape than it says")
        parts = self._several(nodes, depth)

        def build():
            array = np.empty(len(parts), dtype=object)
            for i, part in enumerate(parts):
                array[i] = part()
            return array.reshape(shape)

        return build

    def _sparse(self, node, name, own, depth):
        home, _, kind = name.rpartition(".")
        if home != "scipy.sparse" or kind not in ("csr_array", "csr_matrix"):
            self._refuse(name)
            return None
        array = self._file(node["file"], ".npz", lambda content: read_sparse(content, kind))
        return lambda: array

    def _dtype(self, node, name, own, depth):
        self._of_type(name, ("numpy.dtype",))
        array = self._file(node["content"]["file"], ".npy", read_array)
        return lambda: array.dtype

    def _type(self, node, name, own, depth):
        home, _, last = name.rpartition(".")
        if home == "numpy" and last in _SCALARS:
            return lambda: getattr(np, last)
        if own:
            return lambda: _saved.find(name)
        self._of_type(name, ("builtins.str", "builtins.int", "builtins.float", "builtins.bool"))
        return lambda: {"str": str, "int": int, "float": float, "bool": bool}[last]

    def _function(self, node, name, own, depth):
        if not own:
            self._of_type(name, _saved.FUNCTIONS)
        return lambda: _saved.find(name)

    def _random_state(self, node, name, own, depth):
        self._of_type(name, ("numpy.random.RandomState",))
        content = self.plan(node["content"], depth)

        def build():
            state = content()
            key, place = state["state"]["key"], state["state"]["pos"]
            fits = key.shape == (624,) and key.dtype == np.uint32 and type(place) is int
            if state["bit_generator"] != "MT19937" or not fits or not 0 <= place <= 624:
                raise Damaged("a random state that is none")
            made = np.random.RandomState(0)
            gauss = int(state["has_gauss"]), float(state["gauss"])
            made.set_state(("MT19937", key, place, *gauss))
            return made

        return build

    def _generator(self, node, name, own, depth):
        if not own:
            self._refuse(name)
        content = self.plan(node["content"]["bit_generator"], depth)

        def build():
            made = np.random.PCG64(0)
            made.state = content()  # refuses the state of another generator
            return np.random.Generator(made)

        return build

    def _tree(self, node, name, own, depth):
        self._of_type(name, ("sklearn.tree.Tree",))
        args = self.plan(node["__reduce__"]["args"], depth)
        state = self.plan(node["content"], depth)

        def build():
            from mixedbag._model_checks import decision_tree

            return decision_tree(args(), state())

        return build

    def _neighbour_tree(self, node, name, depth):
        """A KD or ball tree: its rows and its metric are read, the rest is built anew."""
        parts = node["content"]["content"]
        metric = parts[11]
        metric_name = _saved.public_name(f"{metric['__module__']}.{metric['__class__']}")
        self._of_type(metric_name, _saved.METRICS)
        rows, leaf_size = self.plan(parts[0], depth), self.plan(parts[4], depth)
        power = self.plan(metric["content"]["content"][0], depth)

        def build():
            from mixedbag._model_checks import neighbour_tree

            metric_name_ = _saved.METRICS[metric_name]
            return neighbour_tree(_saved.find(name), rows(), leaf_size(), metric_name_, power())

        return build

    def _call(self, node, name, own, depth):
        return self._called(node["content"], name, own, depth)

    def _loss(self, node, name, own, depth):
        return self._called(node["__reduce__"]["args"], name, own, depth)

    def _called(self, arguments, name, own, depth):
        if not own:
            self._refuse(name)
            return None
        given = self.plan(arguments, depth)
        return lambda: _saved.find(name)(*given())

    def _object(self, node, name, own, depth):
        if not own and not _saved.is_registered(name):
            self._refuse(name)
        if name in ("sklearn.neighbors.KDTree", "sklearn.neighbors.BallTree"):
            return self._neighbour_tree(node, name, depth)
        content = node.get("content")
        state = (lambda: {}) if content is None else self.plan(content, depth)
        return lambda: _made(_saved.find(name), state(), own)

    def _file(self, name, ending, read):
        """What a member of the archive holds; read once, however many nodes refer to it."""
        if not isinstance(name, str) or not name.endswith(ending):
            raise Damaged(f"an array kept as {str(name)[:50]!r}")
        if name not in self._arrays:
            self._arrays[name] = read(self.archive.read(name))
        return self._arrays[name]

    _PLANNERS = {
        "ConstructorFromReduceNode": _call,
        "DTypeNode": _dtype,
        "DictNode": _dict,
        "FunctionNode": _function,
        "JsonNode": _scalar,
        "ListNode": _list,
        "LossNode": _loss,
        "NdArrayNode": _array,
        "ObjectNode": _object,
        "RandomGeneratorNode": _generator,
        "RandomStateNode": _random_state,
        "SparseMatrixNode": _sparse,
        "TreeNode": _tree,
        "TupleNode": _tuple,
        "TypeNode": _type,
    }


def _key(kind, key):
    name = kind["__class__"].rstrip("_").rstrip("0123456789")
    if kind["__loader__"] != "TypeNode" or kind["__module__"] not in ("builtins", "numpy"):
        raise Damaged("a dictionary with keys of another kind")
    if name == "bool":
        return {"true": True, "false": False}[key.lower()]
    if name not in _KEYS:
        raise Damaged("a dictionary with keys of another kind")
    return _KEYS[name](key)


def _made(cls, state, own):
    if own and hasattr(cls, "__setstate__"):
        thing = cls.__new__(cls)
        thing.__setstate__(state)
        return thing
    state = {} if state is None else state
    if not isinstance(state, dict):
        raise Damaged(f"a {cls.__name__} without attributes")
    _refuse_shadows(cls, state)
    from mixedbag._model_checks import made

    return made(cls, state)


def _refuse_shadows(cls, state):
    """No attribute may take the place of a method, or of a constant, of its class."""
    if dataclasses.is_dataclass(cls):
        settable = {field.name for field in dataclasses.fields(cls)}
    else:
        settable = set(getattr(cls, "_get_param_names", list)())
    for name in state:
        proper = isinstance(name, str) and name.isidentifier() and not name.startswith("__")
        if not proper or (name not in settable and hasattr(cls, name)):
            raise Damaged(f"a {cls.__name__} with an attribute {str(name)[:50]!r}")
