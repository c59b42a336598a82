"""What learners share that turn a bag into one vector: any scikit-learn classifier behind it."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from mixedbag._logistic import fit_logistic
from mixedbag._once import once
from mixedbag._parameters import above, having
from mixedbag._wide import in_double
from mixedbag.base import BagClassifier
from mixedbag.base._calibrating import has_probabilities
from mixedbag.base._levels import decided, winners

_OF_MODEL = ("C", "estimator", "n_subspaces", "n_jobs")  # what the vectors do not depend on


class EmbeddedClassifier(BagClassifier):
    """Base of classifiers of vectors, one a bag.

    Authors write ``_learn_vectors(bags, weight, rng)``, which looks at no label and returns the
    vectors of these bags where it has made them anyway, and ``_vectors(bags)``, to which tables in
    single precision come a piece at a time. An instance is
    asked about as a bag of one. Where the vector of a bag is the mean of those of its instances, a
    linear model behind it thereby scores instances exactly: the bag's score is the mean of theirs.
    """

    _rules = ("any", "majority")
    _multiclass = True
    _needs_scaling = True
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0]}
    _parameter_constraints = {"C": [above(0)], "estimator": [having("fit", "predict"), None]}

    def _fit(self, bags, codes, weight):

        def embedded():
            rng, before = check_random_state(self.random_state), set(vars(self))
            vectors = self._learn_vectors(bags, weight, rng)
            learned = {name: v for name, v in vars(self).items() if name not in before}
            return learned, self._embedded(bags) if vectors is None else vectors, rng

        learned, vectors, rng = once(embedded, *self._embedding, bags, weight)
        self.__dict__.update(learned)
        model, weight = self._model(rng), None if (weight == 1.0).all() else weight
        if self.estimator is None and isinstance(model, LogisticRegression):
            self.model_ = fit_logistic(model, vectors, codes, weight)
        else:
            weights = {} if weight is None else {"sample_weight": weight}
            self.model_ = model.fit(vectors, codes, **weights)

    @property
    def _embedding(self):
        """The embedding's name, and the parameters that it depends on."""
        parameters = self.get_params(deep=False)
        return type(self).__name__, {k: v for k, v in parameters.items() if k not in _OF_MODEL}

    def _model(self, rng):
        if self.estimator is None:
            return LogisticRegression(C=self.C, max_iter=10_000, tol=1e-6)
        return clone(self.estimator)

    def _embedded(self, bags):
        return np.vstack([self._vectors(piece) for _, piece in in_double(bags)])

    def _answered(self, bags, answer):
        """Answers to vectors, of some bags at a time: instances would have more than the table."""
        return np.concatenate([answer(self._vectors(piece)) for _, piece in in_double(bags)])

    def _score_bags(self, bags):
        return self._answered(bags, self._score_vectors)

    def _score_vectors(self, vectors):
        if type(self.model_) is LogisticRegression and len(self.model_.classes_) == 2:
            return (vectors @ self.model_.coef_.T + self.model_.intercept_)[:, 0]
        if hasattr(self.model_, "decision_function"):
            return self.model_.decision_function(vectors)
        p = np.clip(self.model_.predict_proba(vectors), 1e-6, 1.0 - 1e-6)
        return np.log(p[:, 1] / p[:, 0]) if p.shape[1] == 2 else np.log(p)

    @property
    def _own_proba(self):  # type: ignore[override]
        model = getattr(self, "model_", self.estimator)
        return model is None or hasattr(model, "predict_proba")

    @has_probabilities
    def predict_proba(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row a bag."""
        if not self._own_proba:
            return super().predict_proba(bags)
        bags = self._fitted(bags)
        p = self._answered(bags, self.model_.predict_proba)
        return decided(p, winners(self._score_bags(bags)))

    @has_probabilities
    def predict_proba_instances(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row an instance: of each as a bag of one."""
        if not self._own_proba:
            return super().predict_proba_instances(bags)
        return self.predict_proba(self._fitted(bags).singletons())


def signed_root(vectors):
    """The square root of every entry, with its sign; then every row has length one.

    Tames entries that a few instances dominate, and takes the size of the bag out of it.
    """
    rooted = np.sign(vectors) * np.sqrt(np.abs(vectors))
    length = np.linalg.norm(rooted, axis=1, keepdims=True)
    return rooted / np.where(length > 0, length, 1.0)
