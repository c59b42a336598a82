"""Networks with attention: refused in plain words without torch, tried with it where it is."""

import importlib.util
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mixedbag.datasets import make_any
from mixedbag.deep import AttentionClassifier, TransformerClassifier, _base
from mixedbag.exceptions import InputError
from mixedbag.learners import all_learners
from tests.started import forking

HERE = importlib.util.find_spec("torchmil") is not None
NETWORKS = [AttentionClassifier, TransformerClassifier]
with_torch = pytest.mark.skipif(not HERE, reason="needs the extra torch")


def import_all():
    all_learners()
    assert not {"torch", "torchmil"} & set(sys.modules)


def test_nothing_imports_torch_unasked():
    if forking() is None:
        pytest.skip("needs a process that has imported our modules only")
    process = forking().Process(target=import_all)
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.mark.skipif(HERE, reason="torchmil is here")
@pytest.mark.parametrize("kind", NETWORKS)
def test_without_torch_it_says_what_to_install(kind):
    data = make_any(n_bags=10, random_state=0)
    with pytest.raises(InputError, match="torchmil"):
        kind().fit(data.bags, data.y)


@with_torch
@pytest.mark.parametrize("kind", NETWORKS)
def test_witnesses_get_attention(kind):
    data = make_any(n_bags=200, n_features=5, separation=6.0, random_state=0)
    model = kind(random_state=0, learning_rate=3e-3).fit(data.bags[:150], data.y[:150])
    test = data.bags[150:]
    assert model.score(test, data.y[150:]) > 0.85
    attention = model.attention(test)
    np.testing.assert_allclose(np.add.reduceat(attention, test.offsets[:-1]), 1.0)
    hidden = data.instance_labels[-test.n_instances :]
    positive = test.spread(data.y[150:]) == 1
    assert attention[hidden == 1].mean() > attention[positive & (hidden == 0)].mean()


@with_torch
@pytest.mark.parametrize("kind", NETWORKS)
def test_alone_an_instance_says_more_than_the_attention_it_gets(kind):
    """Why instances are scored as bags of one: all six of these orders are better for it."""
    for seed in range(3):
        data = make_any(n_bags=200, n_features=10, random_state=seed)
        model = kind(random_state=0).fit(data.bags[:100], data.y[:100])
        test = data.bags[100:]
        hidden = data.instance_labels[-test.n_instances :]
        alone = roc_auc_score(hidden, model.decision_function_instances(test))
        assert alone > 0.8
        assert alone > roc_auc_score(hidden, model.attention(test))


@with_torch
def test_it_stops_early_and_learns_from_all_for_as_long_as_was_best():
    data = make_any(n_bags=80, n_features=3, random_state=0)
    settings = {"hidden": 16, "learning_rate": 0.01, "patience": 5, "random_state": 0}
    model = AttentionClassifier(max_epochs=500, **settings).fit(data.bags, data.y)
    losses = model.held_out_loss_
    assert losses.argmin() == len(losses) - 6 == model.n_iter_ - 1
    # As if that many passes over all bags had been asked for: their own loss falls to the end.
    settings |= {"held_out": 0.0, "max_epochs": model.n_iter_}
    told = AttentionClassifier(**settings).fit(data.bags, data.y)
    assert told.held_out_loss_.argmin() == model.n_iter_ - 1
    for name, weights in told.state_.items():
        np.testing.assert_array_equal(model.state_[name], weights)


@with_torch
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_seed_makes_a_fit(kind):
    """The same seed the same weights, another seed others."""
    data = make_any(n_bags=30, n_features=3, random_state=0)
    fits = [kind(8, max_epochs=5, random_state=s).fit(data.bags, data.y) for s in (0, 0, 1)]
    first, again, other = (model.decision_function(data.bags) for model in fits)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@with_torch
@pytest.mark.parametrize("kind", NETWORKS)
def test_padding_is_not_seen(kind):
    """A bag has the same score alone and beside a larger one."""
    data = make_any(n_bags=30, size=(1, 12), n_features=3, random_state=0)
    model = kind(8, max_epochs=5, random_state=0).fit(data.bags, data.y)
    together = model.decision_function(data.bags)
    alone = [model.decision_function(data.bags[i : i + 1])[0] for i in range(30)]
    np.testing.assert_allclose(together, alone, atol=1e-9)


@with_torch
def test_the_random_numbers_of_the_caller_are_left_alone():
    import torch

    data = make_any(n_bags=20, n_features=3, random_state=0)
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    model = AttentionClassifier(4, max_epochs=2, random_state=0).fit(data.bags, data.y)
    model.predict(data.bags)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("device", "gpu", "settled"),
    [
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("cuda", True, "cuda"),
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
    ],
)
def test_the_device_follows_what_torch_finds(device, gpu, settled):
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: gpu))
    assert AttentionClassifier(device=device)._device(torch) == settled


@with_torch
@pytest.mark.parametrize("kind", NETWORKS)
def test_learning_stays_on_the_device(kind, monkeypatch):
    """On torch's device without values, which refuses whatever stayed on the processor."""
    import torch

    data = make_any(n_bags=20, n_features=3, random_state=0)
    ended = {}
    monkeypatch.setattr(kind, "_device", lambda self, torch: "meta")
    monkeypatch.setattr(
        _base, "_as_arrays", lambda net: ended.update({w.device.type: w for w in net.parameters()})
    )
    bags, everything = data.bags, np.arange(20)
    target, weight = data.y.astype(np.float32), np.ones(20)
    kind(8)._descend(torch, bags, target, weight, everything, None, 0, n_passes=2)
    assert set(ended) == {"meta"}


@with_torch
def test_the_gpu_is_taken_where_there_is_one():
    """And says what the processor says; where there is none, asking for it is refused."""
    import torch

    data = make_any(n_bags=20, n_features=3, random_state=0)
    model = AttentionClassifier(4, max_epochs=2, random_state=0, device="cuda")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            model.fit(data.bags, data.y)
        assert model.set_params(device="auto").fit(data.bags, data.y)._device(torch) == "cpu"
        return
    scores = model.fit(data.bags, data.y).decision_function(data.bags)
    on_processor = model.set_params(device="cpu").decision_function(data.bags)
    np.testing.assert_allclose(scores, on_processor, atol=1e-6)
