"""Known counts and totals of new bags are honoured by models of `compare`."""

import numpy as np
import pytest

from mixedbag.comparison import fit_best_setting
from mixedbag.datasets import make_count, make_sum
from mixedbag.exceptions import InputError
from mixedbag.pooling import bag_sum
from tests.test_cli import mixedbag as command
from tests.test_cli import write_csv


@pytest.mark.parametrize(
    ("make", "rule", "learner"),
    [(make_count, "count", "spread counts + logistic"), (make_sum, "sum", "spread totals + ridge")],
)
def test_instances_add_up_to_the_known_amounts(make, rule, learner):
    data = make(n_bags=30, random_state=0)
    model = fit_best_setting(data.bags, data.y, rule, learner).model
    known = data.y.astype(float)
    known[::3] = np.nan
    found = bag_sum(model.predict_instances(data.bags, known), data.bags.offsets)
    np.testing.assert_allclose(
        found, np.where(np.isnan(known), model.predict(data.bags), known), atol=1e-9
    )
    with pytest.raises(InputError, match="amounts where"):
        model.predict_instances(data.bags, known[1:])


def test_a_count_above_the_size_of_a_bag_is_refused():
    data = make_count(n_bags=30, random_state=0)
    model = fit_best_setting(data.bags, data.y, "count", "spread counts + logistic").model
    with pytest.raises(InputError, match="bag 0 has 99 of"):
        model.predict_instances(data.bags, np.full(len(data.bags), 99.0))


def test_the_command_line_honours_known_amounts(tmp_path):
    data = make_sum(n_bags=30, n_features=3, random_state=0)
    write_csv(tmp_path / "t.csv", data.bags, data.y)
    columns = ("--bag", "molecule", "--label", "active", "--drop", "comment", "--rule", "sum")
    command("fit", "t.csv", *columns, "--learner", "spread totals + ridge", folder=tmp_path)
    asked = ("predict", "model.skops", "t.csv", "--amount", "active")
    command(*asked, "--instances", "--out", "a.csv", folder=tmp_path)
    amounts = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)["amount"]
    np.testing.assert_allclose(bag_sum(amounts, data.bags.offsets), data.y, atol=1e-3)
    told = command(*asked, folder=tmp_path, code=2).stderr
    assert "--amount is about instances" in told
