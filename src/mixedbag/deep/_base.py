"""What the networks with attention share: weights as arrays, batches of padded bags, training."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._parameters import above, at_least, between, one_of, whole
from mixedbag.base import BagClassifier, LogOddsMixin
from mixedbag.exceptions import InputError

_FEW = 10  # bags of either class below which none is held out


class NetworkClassifier(LogOddsMixin, BagClassifier):
    """Base of classifiers around a torchmil model; subclasses build it (`_network`).

    The fitted weights are kept as arrays, so that models are saved and loaded like any other and
    can be asked on another device than the one they learned on.
    """

    _rules = ("any",)
    _needs_scaling = True
    _parameter_constraints = {
        "hidden": [whole(1)],
        "attention_size": [whole(1)],
        "alpha": [at_least(0)],
        "learning_rate": [above(0)],
        "batch_size": [whole(1)],
        "max_epochs": [whole(1)],
        "patience": [whole(1)],
        "held_out": [between(0, 0.5)],
        "device": [one_of("auto", "cpu", "cuda")],
    }

    def _fit(self, bags, sign, weight):
        torch = _torch()
        rng = check_random_state(self.random_state)
        with _own_draws(torch):
            self._train(torch, bags, sign, weight, rng)

    def _train(self, torch, bags, sign, weight, rng):
        """Held-out bags tell how many passes are best; then all bags are learned from so long."""
        target, seed = (sign > 0).astype(np.float32), rng.randint(2**31 - 1)
        train, held_out = self._split(sign, rng)
        losses, state = self._descend(torch, bags, target, weight, train, held_out, seed)
        self.held_out_loss_, self.n_iter_ = losses, len(losses)
        if len(train) < len(sign) and np.isfinite(losses).any():
            self.n_iter_ = 1 + int(np.nanargmin(losses))
            everything = np.arange(len(sign))
            _, state = self._descend(
                torch, bags, target, weight, everything, None, seed, self.n_iter_
            )
        self.state_ = state

    def _descend(self, torch, bags, target, weight, train, judges, seed, n_passes=None):
        """Passes over `train`: losses of the `judges` after each, and the weights to keep.

        These are the ones that the judges like best, or, without judges, the last.
        """
        rng = check_random_state(seed)
        torch.manual_seed(seed)
        network = self._network(torch, bags.n_features).to(self._device(torch))
        optimiser = torch.optim.AdamW(
            network.parameters(), lr=self.learning_rate, weight_decay=self.alpha
        )
        best, waiting, losses, kept = np.inf, 0, [], None
        passes = self._iterations(self.max_epochs) if n_passes is None else range(n_passes)
        for _ in passes:
            network.train()
            order = rng.permutation(train)
            for start in range(0, len(order), self.batch_size):
                some = np.sort(order[start : start + self.batch_size])
                loss = self._loss(torch, network, bags[some], target[some], weight[some])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            if judges is None:
                continue
            network.eval()
            with torch.no_grad():
                judged = bags[judges], target[judges], weight[judges]
                losses.append(float(self._loss(torch, network, *judged)))
            if losses[-1] < best:
                best, waiting, kept = losses[-1], 0, _as_arrays(network)
            else:
                waiting += 1
                if waiting >= self.patience:
                    break
        # Never a finite loss: the base refuses what such weights say.
        return np.array(losses), _as_arrays(network) if kept is None else kept

    def _split(self, sign, rng):
        """Bags to learn from and bags to judge by: a share of either class, or all for both."""
        sides = [np.flatnonzero(sign == side) for side in (-1.0, 1.0)]
        if self.held_out == 0 or min(map(len, sides)) < _FEW:
            return np.arange(len(sign)), np.arange(len(sign))
        chosen = [
            rng.permutation(side)[: max(1, round(self.held_out * len(side)))] for side in sides
        ]
        held_out = np.sort(np.concatenate(chosen))
        return np.setdiff1d(np.arange(len(sign)), held_out), held_out

    def _loss(self, torch, network, bags, target, weight):
        """Weighted mean logistic loss of some bags."""
        rows, mask = self._padded(torch, bags)
        target, weight = (
            torch.as_tensor(values, dtype=torch.float32, device=rows.device)
            for values in (target, weight)
        )
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            network(rows, mask), target, reduction="none"
        )
        return (weight * losses).sum() / weight.sum()

    def _padded(self, torch, bags):
        """Bags of unequal size as one table padded with zeros, and where its instances are."""
        shape = len(bags), int(bags.sizes.max())
        rows = np.zeros((*shape, bags.n_features), dtype=np.float32)
        place = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
        with np.errstate(over="ignore"):  # what single precision cannot hold is refused later
            rows[bags.bag_of, place] = bags.instances
        mask = np.arange(shape[1]) < bags.sizes[:, None]
        device = self._device(torch)
        return torch.as_tensor(rows, device=device), torch.as_tensor(mask, device=device)

    def _device(self, torch):
        if self.device == "cpu" or torch.cuda.is_available():
            return "cuda" if self.device == "auto" else self.device
        if self.device == "cuda":
            raise InputError(
                "device='cuda', but torch finds no GPU here: device='auto' does without"
            )
        return "cpu"

    def _answers(self, bags):
        """Log-odds of the bags and, flat, the attention that each instance gets before scaling."""
        torch = _torch()
        device = self._device(torch)
        with _own_draws(torch):  # of first weights, which are replaced
            network = self._network(torch, bags.n_features).to(device)
        network.load_state_dict({k: torch.as_tensor(v) for k, v in self.state_.items()})
        network.double().eval()  # so that a bag's answer does not depend on its batch
        scores, attention = [], []
        for start in range(0, len(bags), self.batch_size):
            some = bags[start : start + self.batch_size]
            rows, mask = self._padded(torch, some)
            with torch.no_grad():
                score, weight = network(rows.double(), mask, return_att=True)
            scores.append(score.cpu().numpy())
            attention.append(weight.reshape(mask.shape)[mask].cpu().numpy())
        return np.concatenate(scores).astype(float), np.concatenate(attention).astype(float)

    def _score_bags(self, bags):
        return self._answers(bags)[0]

    def attention(self, bags: Any) -> np.ndarray:
        """The share of attention that each instance gets in its bag, flat; one in total a bag.

        It says how much an instance counts, not for which class: that is what
        `decision_function_instances` says. More than two classes have a column each.
        """
        return self._class_scores(self._fitted(bags), "_attention")

    def _attention(self, bags):
        logits = self._answers(bags)[1]
        shares = np.exp(logits - bags.spread(np.maximum.reduceat(logits, bags.offsets[:-1])))
        return shares / bags.spread(np.add.reduceat(shares, bags.offsets[:-1]))


def _own_draws(torch):
    """A block after which the caller's random numbers go on as if it had not been."""
    return torch.random.fork_rng(devices=range(torch.cuda.device_count()))


def _as_arrays(network):
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def _torch():
    try:
        import torch
        import torchmil  # noqa: F401
    except ImportError as error:
        raise InputError(
            "networks with attention need torch and torchmil: pip install 'mixedbag[torch]'"
        ) from error
    return torch
