"""What a loaded model must satisfy before anyone asks it: no index leads out of its array.

Compiled code does not look where it reads. A tree whose child is number 10**12, a support vector
machine that counts more vectors than it has, a stump on a feature that no row has: each would crash
the process, or worse. Everything that compiled code indexes with is checked here, in one walk over
the model.
"""

import warnings
from contextlib import suppress

import numpy as np
from sklearn.base import BaseEstimator

from mixedbag import _saved
from mixedbag._model_archive import Damaged
from mixedbag.bags import Bags

_WIDE = 10**6  # features: rows of more are not made up
_LONG = 20  # instances, so that a sequence model has a past


def decision_tree(args, state):
    """A tree of scikit-learn, from arrays that describe a tree."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    n_features, n_classes, n_outputs = args
    nodes, values = state["nodes"], state["values"]
    _need(type(n_features) is int and n_features > 0, "a tree without features")
    _need(type(n_outputs) is int and n_outputs > 0, "a tree without outputs")
    _need(_is_array(n_classes, "iu", (n_outputs,)) and (n_classes > 0).all(), "a tree of no class")
    _need(isinstance(nodes, np.ndarray) and nodes.dtype == NODE_DTYPE, "a tree of other nodes")
    _need(nodes.ndim == 1 and len(nodes) == state["node_count"], "a tree of other size")
    _need(_is_array(values, "f", (len(nodes), n_outputs, n_classes.max())), "a tree of no values")
    left, right = nodes["left_child"], nodes["right_child"]
    depth = _depth(left, right, left >= 0)
    inner = nodes["feature"][left >= 0]
    _need(((inner >= 0) & (inner < n_features)).all(), "a tree that asks for other features")
    tree = Tree(n_features, n_classes.astype(np.intp), n_outputs)
    # The depth decides how much memory paths get: it is counted, not believed.
    tree.__setstate__({**state, "max_depth": depth})
    return tree


def _depth(left, right, is_inner):
    """Depth of a tree whose children come after their parents, one parent each."""
    inner = np.flatnonzero(is_inner)
    children = np.concatenate([left[inner], right[inner]])
    parents = np.concatenate([inner, inner])
    _need((children > parents).all() and len(left) == len(children) + 1, "a tree that is none")
    _need(np.array_equal(np.sort(children), np.arange(1, len(left))), "a tree that is none")
    depth, level = 0, np.zeros(1, dtype=np.intp)
    while len(level := level[is_inner[level]]):
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth


def neighbour_tree(cls, rows, leaf_size, metric, power):
    """A KD or ball tree over `rows`, built anew."""
    rows = np.asarray(rows)
    _need(_is_array(rows, "f") and rows.ndim == 2, "a search tree without rows")
    _need(type(leaf_size) is int and leaf_size > 0, "a search tree without leaves")
    settings = {"p": float(power)} if metric == "minkowski" else {}
    return cls(rows, leaf_size=leaf_size, metric=metric, **settings)


def made(cls, state):
    """An object with these attributes; its constructor does not run."""
    if _name(cls) == "mixedbag.bags.Bags":
        names = ("_instances", "_offsets", "_ids", "_feature_names")
        return cls(*(state[name] for name in names))
    thing = cls.__new__(cls)
    if issubclass(cls, BaseEstimator):
        thing.__setstate__(state)  # scikit-learn's own: warns of another version
    else:
        thing.__dict__.update(state)
    return thing


def audit(thing, owner=None, attribute=None):
    """Check everything in a model.

    Parameters
    ----------
    thing : object
        The model, or a part of it.
    owner : estimator, optional
        The innermost estimator that `thing` is part of.
    attribute : str, optional
        The attribute of `owner` that holds it.
    """
    if not isinstance(thing, (dict, list, tuple, np.ndarray)):
        check = _CHECKS.get(_name(type(thing)))
        if check is not None:
            check(thing, owner, attribute)
    if isinstance(thing, BaseEstimator):
        _check_parts(thing)
        for name, part in vars(thing).items():
            audit(part, thing, name)
        return
    for part in _inside(thing):
        audit(part, owner, attribute)


def _inside(thing):
    """The parts of a thing that may be, or hold, estimators and trees."""
    if isinstance(thing, dict):
        return thing.values()
    if isinstance(thing, (list, tuple)):
        return thing
    if isinstance(thing, np.ndarray):
        return thing.ravel() if thing.dtype == object else ()
    return vars(thing).values() if hasattr(thing, "__dict__") else ()


def _first_width(thing):
    """The number of features of the first fitted estimator inside, or None."""
    if isinstance(thing, BaseEstimator) and "n_features_in_" in vars(thing):
        return thing.n_features_in_
    found = (_first_width(part) for part in _inside(thing))
    return next((width for width in found if width is not None), None)


def rehearse(model, particular=False):
    """Ask a fitted model about two small bags: one that cannot answer is damaged.

    The walk of `audit` keeps compiled code from harm. Whether every array fits its neighbours only
    the learner knows, so it is asked once, here, and not by a user later. A model that is
    `particular` about its rows may refuse these, which are made up.
    """
    width = getattr(model, "n_features_in_", None) or _first_width(model)
    if width is None:
        fitted = [name for name in vars(model) if name.endswith("_") or name == "members"]
        _need(not fitted, "a model of no features")
    if width is None or width > _WIDE:
        return  # not fitted, or too wide to make rows up
    rng = np.random.default_rng(0)
    # Above zero, as an exposure has to be.
    bags = Bags.from_list([rng.exponential(size=(_LONG, width)) for _ in range(2)])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("predict", "decision_function", "predict_proba"):
            for name in (method, f"{method}_instances"):
                if hasattr(model, name):
                    with suppress(*([ValueError] if particular else [])):
                        getattr(model, name)(bags)


def _check_parts(estimator):
    """An estimator hands its own rows to fitted parts without checking their width again."""
    name, state = _name(type(estimator)), vars(estimator)
    width = state.get("n_features_in_")
    _need(width is None or _is_count(width), "a number of features that is none")
    if "n_classes_" in state and "classes_" in state:
        _need(np.array_equal(state["n_classes_"], len(state["classes_"])), "other classes")
    is_ours = name.startswith("mixedbag.")
    is_forest = name.startswith("sklearn.ensemble.") and name in _saved.CLASSES
    if is_ours and "theta_" in state:
        _check_states(estimator, width)
    if (is_ours or is_forest) and "estimators_" in state:
        _need(isinstance(estimator.estimators_, list), "parts that are no list")
        for part in estimator.estimators_:
            if isinstance(part, BaseEstimator):
                of_part = vars(part).get("n_features_in_")
                _need(of_part == width and _is_count(width), "parts for other features")


def _check_states(model, width):
    """States of a sequence model: every array has as many as the others."""
    n_states, order = len(model.theta_), model.order
    _need(_is_count(width), "a model without features")
    _need(type(order) is int and order >= 0, "an order that is none")
    shapes = {
        "theta_": (n_states,),
        "coefficients_": (n_states, order * width + 1, width),
        "covariances_": (n_states, width, width),
        "center_": (width,),
        "scale_": (width,),
        "noise_": (width,),
        "initial_": (n_states,),
        "transition_": (n_states, n_states),
        "weights_": (n_states,),
    }
    for name, shape in shapes.items():
        if name in vars(model):
            _need(_is_array(vars(model)[name], "f", shape), f"another shape of {name}")


def _check_tree_owner(tree, owner, attribute):
    tree_of_it = attribute == "tree_" and _name(type(owner)).startswith("sklearn.tree.")
    _need(tree_of_it and owner.n_features_in_ == tree.n_features, "a tree in a wrong place")


def _check_aggregate_tree(tree, owner, attribute):
    n = len(tree.feature)
    for name in ("left", "right"):
        _need(_is_array(getattr(tree, name), "i", (n,)), "a tree of other size")
    _need(_is_array(tree.feature, "i", (n,)), "a tree without features")
    _need(_is_array(tree.threshold, "f", (n,)), "a tree without thresholds")
    _need(isinstance(tree.value, np.ndarray) and tree.value.dtype.kind in "biuf", "no values")
    _need(tree.value.ndim > 0 and len(tree.value) == n, "a tree of other size")
    _depth(tree.left, tree.right, tree.feature >= 0)
    _check_features(tree.feature, owner)


def _check_stumps(stumps, owner, attribute):
    n = len(stumps.feature)
    _need(_is_array(stumps.feature, "i", (n,)), "stumps without features")
    for name in ("threshold", "left", "right", "missing"):
        _need(_is_array(getattr(stumps, name), "f", (n,)), "stumps of other number")
    _need((stumps.feature >= 0).all(), "a stump without feature")
    _check_features(stumps.feature, owner)


def _check_features(features, owner):
    """Features are below the number that the learner around them accepts."""
    width = vars(owner).get("n_features_in_") if owner is not None else None
    ours = owner is not None and _name(type(owner)).startswith("mixedbag.")
    _need(ours and _is_count(width), "trees outside of a learner")
    _need((features < width).all(), "a tree that asks for other features")


def _check_bags(bags, owner, attribute):
    _need(vars(owner).get("n_features_in_") == bags.n_features, "bags of other features")


def _check_support(machine, owner, attribute):
    if "support_" not in vars(machine):
        return
    vectors, coef = machine.support_vectors_, machine._dual_coef_
    n, counts = len(machine.support_), machine._n_support
    _need(machine.kernel in ("linear", "poly", "rbf", "sigmoid"), "another kernel")
    _need(_is_array(machine.support_, "i", (n,)), "support vectors of other number")
    _need(vectors.shape == (n, machine.n_features_in_), "support vectors of other shape")
    _need(_is_array(counts, "i") and counts.ndim == 1, "no number of support vectors")
    _need((counts >= 0).all(), "a negative number of support vectors")
    n_classes = 2 if type(machine).__name__ == "SVR" else len(machine.classes_)
    pairs = n_classes * (n_classes - 1) // 2
    _need(len(counts) == n_classes, "support vectors of other classes")
    _need(int(counts.sum()) == n or type(machine).__name__ == "SVR", "other support vectors")
    _need((counts <= n).all(), "other support vectors")
    _need(coef.shape == (n_classes - 1, n), "coefficients of other shape")
    _need(_is_array(machine._intercept_, "f", (pairs,)), "intercepts of other number")
    for name in ("_probA", "_probB"):
        calibrated = vars(machine).get(name, np.empty(0))
        _need(_is_array(calibrated, "f") and calibrated.shape in ((0,), (pairs,)), name)
    _need(type(machine._sparse) is bool, "a machine of no kind")
    for part in (vectors, coef):
        _need(isinstance(part, np.ndarray) != machine._sparse, "a machine of two kinds")
        _need(part.dtype == np.float64, "support vectors that are no numbers")
    if machine._sparse:
        _need(coef.nnz == coef.shape[0] * coef.shape[1], "coefficients that are missing")


def _check_neighbours(model, owner, attribute):
    if "_fit_X" not in vars(model):
        return
    rows = model._fit_X
    _need(rows.ndim == 2 and rows.shape[1] == model.n_features_in_, "neighbours of other width")
    _need(model.n_samples_fit_ == rows.shape[0], "neighbours of other number")
    for name in ("neighbor_mean_", "neighbor_weight_"):  # what bags said of each of them
        said = np.shape(getattr(owner, name, rows))
        _need(said[:1] == rows.shape[:1], "neighbours who say nothing")
    if type(model).__name__ == "KNeighborsClassifier":
        _need(_is_array(model._y, "i") and len(model._y) == rows.shape[0], "other neighbours")
        _need(model._y.ndim == 1, "neighbours of several labels")
        _need(((model._y >= 0) & (model._y < len(model.classes_))).all(), "neighbours of no class")


def _check_steps(pipeline, owner, attribute):
    _need(isinstance(pipeline.steps, list) and pipeline.steps, "a pipeline without steps")
    for _, step in pipeline.steps:
        _need(hasattr(step, "fit") or step in ("passthrough", None), "a step that is none")


def _check_members(blend, owner, attribute):
    _need(isinstance(blend.members, list) and blend.members, "a blend of nobody")
    _need(all(isinstance(m, BaseEstimator) for m in blend.members), "a member that is none")


_CHECKS = {
    "mixedbag._saved.AmountBlend": _check_members,
    "mixedbag._saved.AmountModel": _check_members,
    "mixedbag._saved.ClassBlend": _check_members,
    "mixedbag._saved.ClassModel": _check_members,
    "mixedbag._saved.AggregateTree": _check_aggregate_tree,
    "mixedbag._saved.StumpEnsemble": _check_stumps,
    "mixedbag.bags.Bags": _check_bags,
    "mixedbag.wrappers.BagPipeline": _check_steps,
    "sklearn.neighbors.KNeighborsClassifier": _check_neighbours,
    "sklearn.neighbors.KNeighborsRegressor": _check_neighbours,
    "sklearn.neighbors.NearestNeighbors": _check_neighbours,
    "sklearn.pipeline.Pipeline": _check_steps,
    "sklearn.svm.SVC": _check_support,
    "sklearn.svm.SVR": _check_support,
    "sklearn.tree.Tree": _check_tree_owner,
}


def _name(cls):
    name = _saved.name_to_save(f"{cls.__module__}.{cls.__qualname__}")
    return _saved.public_name(name)


def _is_array(thing, kinds, shape=None):
    proper = isinstance(thing, np.ndarray) and thing.dtype.kind in kinds
    return proper and (shape is None or thing.shape == shape)


def _is_count(number):
    return type(number) is int and number > 0


def _need(holds, what):
    if not holds:
        raise Damaged(what)
