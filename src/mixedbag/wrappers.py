"""Any scikit-learn estimator on bags: transform instances, summarise bags, or spread labels."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import TransformerMixin, clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixedbag._described import STATISTICS, described
from mixedbag._evidence import at_instances
from mixedbag._parameters import having, one_of, whole
from mixedbag._spread import SpreadAny, SpreadCounts, SpreadMajority, SpreadTotals
from mixedbag._validation import check_choice
from mixedbag.bags import Bags, as_bags
from mixedbag.base import BagEstimator
from mixedbag.exceptions import InputError

__all__ = ["BagFeatures", "BagPipeline", "InstanceWise", "SpreadLabels"]


class InstanceWise(TransformerMixin, BagEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply a scikit-learn transformer to the instances of bags.

    Bags go in and bags come out, with the same grouping; plain rows come out as plain rows.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Fitted on the instances of all bags together. A transformer that needs labels gets each
        instance's bag label.
    keep : int or str, optional
        A feature (its place or its name) that stays as it is, because its unit counts: the exposure
        of `mixedbag.aggregate.AggregatePoissonRegressor`. The transformer has to give as many
        features as it gets.

    See Also
    --------
    BagPipeline : Puts a learner behind it.
    BagFeatures : One row a bag in place of bags.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mixedbag import Bags
    >>> from mixedbag.wrappers import InstanceWise
    >>> bags = Bags.from_list([[[0.0], [2.0]], [[4.0]]])
    >>> InstanceWise(StandardScaler()).fit_transform(bags)
    Bags(2 bags, 3 instances × 1 features)
    """

    # Scaling is the cure for values that are too large for learners.
    _refuse_values = staticmethod(Bags.check_finite)  # type: ignore[assignment]
    _parameter_constraints = {
        "transformer": [having("fit", "transform")],
        "keep": [whole(0), str, None],
    }
    keep: int | str | None = None  # models of 0.1.0 do not say

    def __init__(self, transformer, *, keep=None):
        self.transformer = transformer
        self.keep = keep

    @property
    def _accepts_sparse(self):  # type: ignore[override]
        return get_tags(self.transformer).input_tags.sparse

    @property
    def _accepts_nan(self):  # type: ignore[override]
        return get_tags(self.transformer).input_tags.allow_nan

    def fit(self, bags: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the transformer on all instances."""
        self._validate_params()
        bags = self._read(bags, reset=True)
        target = None if y is None else bags.spread(np.asarray(y))
        self.transformer_ = clone(self.transformer).fit(bags.instances, target)
        self._column_of("keep")  # which says if there is none
        return self

    def transform(self, bags: Any) -> Any:
        """The same bags with transformed instances."""
        read = self._fitted(bags)
        instances = self.transformer_.transform(read.instances)
        if self.keep is not None:
            instances = self._with_kept(instances, read.instances)
        if not isinstance(bags, Bags) and read.n_instances == len(read):
            return instances
        return read.with_instances(instances, self._names_out())

    def _with_kept(self, instances, before):
        if instances.shape != before.shape:
            name = type(self.transformer).__name__
            raise InputError(f"{name} makes other features: keep={self.keep!r} is none of them")
        j: Any = self._column_of("keep")
        stack = sparse.hstack if sparse.issparse(instances) else np.hstack
        parts = [instances[:, :j], before[:, [j]], instances[:, j + 1 :]]
        return stack([part for part in parts if part.shape[1]])

    def _names_out(self):
        if not hasattr(self.transformer_, "get_feature_names_out"):
            return None
        return self.get_feature_names_out().tolist()

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names of the transformed features."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(self, "feature_names_in_", None)
        return self.transformer_.get_feature_names_out(input_features)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.transformer)
        tags.target_tags.required = inner.target_tags.required
        tags.requires_fit = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class BagFeatures(TransformerMixin, BagEstimator):
    """Summarise each bag as one row, so that any scikit-learn estimator can learn from it.

    With a random forest behind it this is the honest baseline that every clever method must face.

    Parameters
    ----------
    statistics : sequence of {"min", "mean", "max", "std", "log_size"}
        What to say of a bag: the smallest, average and largest value and the standard deviation of
        each feature over its instances, and the logarithm of its size.

    See Also
    --------
    InstanceWise : Changes instances, and keeps the bags.
    mixedbag.embeddings.VocabularyClassifier : Describes bags by kinds of instances.
    SpreadLabels : Another baseline: any estimator on single instances.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.wrappers import BagFeatures
    >>> bags = Bags.from_list([[[0.0], [2.0]], [[4.0]]])
    >>> BagFeatures(statistics=("min", "mean", "max")).fit_transform(bags)
    array([[0., 1., 2.],
           [4., 4., 4.]])
    """

    _accepts_sparse = True
    _parameter_constraints = {"statistics": ["array-like"]}

    def __init__(self, statistics=STATISTICS):
        self.statistics = statistics

    def fit(self, bags: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Check the input; there is nothing to learn."""
        if hasattr(self.statistics, "fit"):
            name = type(self.statistics).__name__
            raise TypeError(
                f"BagFeatures only describes bags; the estimator comes behind it: "
                f"make_pipeline(BagFeatures(), {name}(...))"
            )
        self._validate_params()
        for name in self.statistics:
            check_choice("statistics", name, STATISTICS)
        self._read(bags, reset=True)
        return self

    def transform(self, bags: Any) -> np.ndarray | sparse.csr_array:
        """One row of statistics a bag; sparse where the instances are."""
        return described(self._fitted(bags), self.statistics)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names such as ``max_pH``, and ``log_size``."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(
                self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]
            )
        names = []
        for name in self.statistics:
            names += [name] if name == "log_size" else [f"{name}_{f}" for f in input_features]
        return np.asarray(names, dtype=object)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _final_predicts(method):
    """Whether the last step can be asked about instances, if need be each as a bag of one."""
    return available_if(
        lambda pipeline: (
            hasattr(pipeline.steps[-1][1], method)
            or hasattr(pipeline.steps[-1][1], method.removesuffix("_instances"))
        )
    )


class BagPipeline(Pipeline):
    """A pipeline of scikit-learn, with answers about instances.

    Bags go through the steps as in any pipeline. The last step is asked about the instances; where
    a step cuts sequences into windows, each sample takes the answer of the nearest window, and
    where a step makes one row of a bag, each instance is asked about as a bag of one.

    Parameters
    ----------
    steps : list of (name, estimator)
        Transformers of bags, and a learner or an estimator at the end.
    transform_input : list of str, optional
        As in scikit-learn.
    memory : str or object with the interface of joblib.Memory, optional
        As in scikit-learn: where fitted transformers are kept.
    verbose : bool
        As in scikit-learn: whether to print the time of each step.

    See Also
    --------
    InstanceWise : Makes a step of any transformer of instances.
    mixedbag.sequence.SlidingWindows : A step that cuts sequences into windows.
    sklearn.pipeline.Pipeline : The same without answers about instances.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.wrappers import BagPipeline, InstanceWise
    >>> data = make_any(n_bags=30, random_state=0)
    >>> scaler, learner = InstanceWise(StandardScaler()), MILogisticRegression()
    >>> model = BagPipeline([("scale", scaler), ("learner", learner)]).fit(data.bags, data.y)
    >>> len(model.predict_instances(data.bags)) == data.bags.n_instances
    True
    """

    @_final_predicts("predict_instances")
    def predict_instances(self, bags: Any) -> np.ndarray:
        """What the last step predicts of every instance."""
        return at_instances(self, as_bags(bags), "predict_instances")

    @_final_predicts("decision_function_instances")
    def decision_function_instances(self, bags: Any) -> np.ndarray:
        """Scores of the instances."""
        return at_instances(self, as_bags(bags), "decision_function_instances")

    @_final_predicts("predict_proba_instances")
    def predict_proba_instances(self, bags: Any) -> np.ndarray:
        """Probabilities of the instances' classes."""
        return at_instances(self, as_bags(bags), "predict_proba_instances")


def _delegates(method):
    return available_if(lambda wrapper: hasattr(wrapper._delegate(), method))


class SpreadLabels(BagEstimator):
    """The naive approach: every instance takes the label of its bag.

    Any classifier or regressor then learns from labelled instances, and bag predictions pool those
    of the instances. These are the controls that the papers compare with.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        What learns from the instances.
    rule : {"any", "majority", "mean"}
        - "any": bags carry a class; a bag's score is the largest of its instances'.
        - "majority": bags carry a class; a bag's class is that of most of its instances.
        - "mean": bags carry a total (with a regressor) or counts (with a classifier); every
          instance gets its bag's mean. A classifier sees each instance once a class, weighted by
          the proportion of that class in its bag; its probabilities, which differ too little, are
          made as sure as the counts of the bags say.
    aggregate : {"sum", "mean"}
        For rule "mean": whether `y` has totals and counts, or means and proportions.

    See Also
    --------
    mixedbag.classics.InstanceAverageClassifier : Weights instances so that all bags count alike,
        and averages their probabilities.
    mixedbag.margin.InstanceMarginSVC : Goes on from there, and corrects the labels of instances.
    BagFeatures : Another baseline: one row a bag.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mixedbag import Bags
    >>> from mixedbag.wrappers import SpreadLabels
    >>> bags = Bags.from_list([[[0.0], [3.0]], [[0.0], [0.5]], [[4.0]], [[-1.0], [0.2]]])
    >>> model = SpreadLabels(LogisticRegression()).fit(bags, ["yes", "no", "yes", "no"])
    >>> model.predict(bags).tolist()
    ['yes', 'no', 'yes', 'no']
    >>> model.predict_instances(bags[:1]).tolist()
    ['no', 'yes']
    """

    _parameter_constraints = {
        "estimator": [having("fit", "predict")],
        "rule": [one_of("any", "majority", "mean")],
    }

    def __init__(self, estimator, *, rule="any", aggregate="sum"):
        self.estimator = estimator
        self.rule = rule
        self.aggregate = aggregate

    @property
    def _rules(self):  # type: ignore[override]
        if self.rule != "mean":
            return (self.rule,)
        return ("sum",) if is_regressor(self.estimator) else ("count",)

    @property
    def _knows_instances(self):
        return self._delegate()._knows_instances

    @property
    def _own_proba(self):
        return getattr(self._delegate(), "_own_proba", False)

    @property
    def _accepts_sparse(self):  # type: ignore[override]
        return self._delegate()._accepts_sparse

    @property
    def _accepts_nan(self):  # type: ignore[override]
        return self._delegate()._accepts_nan

    def _delegate(self):
        """The learner that does the work: one class for each kind of label."""
        return self.learner_ if hasattr(self, "learner_") else self._unfitted_delegate()

    def _unfitted_delegate(self):
        if self.rule == "mean" and is_regressor(self.estimator):
            return SpreadTotals(self.estimator, aggregate=self.aggregate)
        if self.rule == "mean":
            return SpreadCounts(self.estimator, aggregate=self.aggregate)
        if is_regressor(self.estimator):
            raise InputError(f"rule={self.rule!r} needs a classifier; a regressor has rule='mean'")
        return (SpreadAny if self.rule == "any" else SpreadMajority)(self.estimator)

    def fit(self, bags: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from bags and one label, total or count a bag."""
        self._validate_params()
        learner = self._unfitted_delegate()
        learner.set_callbacks(*getattr(self, "_skl_callbacks", []))
        self.learner_ = learner.fit(bags, y, sample_weight).set_callbacks()
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            self.__dict__.pop(name, None)
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        return self

    def _fitted_learner(self):
        check_is_fitted(self)
        return self.learner_

    def predict(self, bags: Any) -> np.ndarray:
        """Predicted label, total or count of every bag."""
        return self._fitted_learner().predict(bags)

    def predict_instances(self, bags: Any, **known: Any) -> np.ndarray:
        """Predicted label or value of every instance, in the order of ``bags.instances``.

        With rule "mean", known ``counts`` (or ``totals``) of these bags can be passed.
        """
        return self._fitted_learner().predict_instances(bags, **known)

    @_delegates("decision_function")
    def decision_function(self, bags: Any) -> np.ndarray:
        """Scores of the bags."""
        return self._fitted_learner().decision_function(bags)

    @_delegates("decision_function_instances")
    def decision_function_instances(self, bags: Any) -> np.ndarray:
        """Scores of the instances."""
        return self._fitted_learner().decision_function_instances(bags)

    @_delegates("predict_proba")
    def predict_proba(self, bags: Any) -> np.ndarray:
        """Probabilities of the bags' classes, or expected proportions."""
        return self._fitted_learner().predict_proba(bags)

    @_delegates("predict_proba_instances")
    def predict_proba_instances(self, bags: Any, **known: Any) -> np.ndarray:
        """Probabilities of the instances' classes; with rule "mean", given known ``counts``."""
        return self._fitted_learner().predict_proba_instances(bags, **known)

    @_delegates("calibrate")
    def calibrate(self, bags: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Learn what the scores of an estimator without probabilities mean; see `BagClassifier`."""
        self._fitted_learner().calibrate(bags, y, sample_weight, **options)
        return self

    def score(self, bags: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy, R² of totals, or the share of instances that are counted right."""
        return self._fitted_learner().score(bags, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._delegate())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        return tags


def __dir__():
    return __all__
