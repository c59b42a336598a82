"""Preparation, once for all who learn from the same bags: the same as a pipeline's, to the bit."""

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag._once import Shelf, sharing
from mixedbag.comparison import _trials
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._preparation import Preparation
from mixedbag.comparison._protocol import make_protocol
from mixedbag.datasets import make_any
from mixedbag.wrappers import InstanceWise

DATA = make_any(n_bags=24, size=(1, 4), n_features=3, random_state=0)
TRAIN, TEST = np.arange(1, 24, 2), np.arange(0, 24, 2)


@pytest.mark.parametrize("gaps", [False, True])
def test_learners_are_prepared_as_by_their_pipelines(gaps):
    bags = DATA.bags
    if gaps:
        values = bags.instances.copy()
        values[::5, 1] = np.nan
        bags = Bags(values, bags.offsets)
    _, protocol = make_protocol(bags, DATA.y, "any")
    candidates, _ = find_candidates("any", bags, ["CitationKNN", "MILogistic", "SVM", "forest"])
    with sharing(Shelf()):
        for candidate in candidates:
            setting = _trials.settings(candidate)[-1]
            model = _trials.fit(protocol, candidate, setting, TRAIN)
            prepared = Preparation(protocol, candidate, TRAIN)(TEST)
            alone = candidate.estimator.set_params(**setting)
            alone.fit(bags[TRAIN], protocol.question.targets[TRAIN])
            for ask in (protocol.question.evidence, protocol.question.evidence_of_instances):
                expected = ask(alone, bags[TEST])
                np.testing.assert_array_equal(ask(model, bags[TEST]), expected)
                np.testing.assert_array_equal(ask(model[-1], prepared), expected)


def test_bags_are_prepared_once(monkeypatch):
    fitted = []
    monkeypatch.setattr(
        InstanceWise,
        "fit",
        lambda self, *args, fit=InstanceWise.fit: fitted.append(1) or fit(self, *args),
    )
    _, protocol = make_protocol(DATA.bags, DATA.y, "any")
    candidates, _ = find_candidates("any", DATA.bags, ["CitationKNN", "EMDD", "SetKernelSVC"])
    with sharing(Shelf()):
        for candidate in candidates:
            for rows in (TRAIN, TRAIN, TEST):
                bags = Preparation(protocol, candidate, rows)
                assert len(bags.learned_from) == len(rows)
    assert len(fitted) == 2


def test_scores_that_are_no_numbers_end_a_trial():
    _, protocol = make_protocol(DATA.bags, DATA.y, "any")
    (candidate,), _ = find_candidates("any", DATA.bags, ["MILogistic"])
    candidate.estimator.steps[-1] = ("learner", _Lost())
    with pytest.raises(ValueError, match="missing or infinite"):
        _trials.run_trial(protocol, candidate, protocol.splits[0])


class _Lost(type(find_candidates("any", DATA.bags, ["MILogistic"])[0][0].estimator[-1])):
    def _score_bags(self, bags):
        return np.full(len(bags), np.nan)
