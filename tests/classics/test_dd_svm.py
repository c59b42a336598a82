"""DD-SVM: several concepts are found, and the features are distances to them."""

import numpy as np
import pytest

from mixedbag.bags import Bags
from mixedbag.classics import DDSVM, DiverseDensity
from mixedbag.datasets import make_any


@pytest.fixture(scope="module")
def two_concepts():
    """Positive bags have an instance at one of two far places, and none of them at both."""
    rng = np.random.default_rng(0)
    bags, y = [], np.arange(60) % 2
    for i, label in enumerate(y):
        rows = rng.normal(size=(5, 2))
        if label:
            rows[0] = rng.normal(size=2) * 0.3 + ([6, 0] if i % 4 == 1 else [-6, 0])
        bags.append(rows)
    return Bags.from_list(bags), y


def test_a_class_may_have_several_concepts(two_concepts):
    bags, y = two_concepts
    model = DDSVM().fit(bags, y)
    assert model.score(bags, y) > 0.95
    assert DiverseDensity().fit(bags, y).score(bags, y) < 0.9
    sides = np.sign(model.prototypes_[np.abs(model.prototypes_[:, 0]) > 4][:, 0])
    assert set(sides) == {-1.0, 1.0}


def test_features_are_distances_to_the_nearest_instance():
    data = make_any(n_bags=12, n_features=3, random_state=0)
    model = DDSVM().fit(data.bags, data.y)
    for bag, found in zip(data.bags, model._distances(data.bags)):
        for point, scale, one in zip(model.prototypes_, model.scales_, found):
            wanted = np.sqrt((((bag - point) * scale) ** 2).sum(axis=1)).min()
            assert one == pytest.approx(wanted, abs=1e-6)


def test_concepts_found_twice_count_once(two_concepts):
    model = DDSVM(n_init=20).fit(*two_concepts)
    rows = np.hstack([model.prototypes_, model.scales_])
    apart = np.abs(rows[:, None] - rows).max(axis=2) + np.eye(len(rows))
    assert apart.min() > 1e-3
    assert len(rows) < 40
