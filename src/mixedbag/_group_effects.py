"""What groups of instances have that a model does not tell, as bags that it was learned from show.

A rule that fits bags well may still be wrong about a group: a line that cannot bend, a party that
is no feature. So the rate m_g of group g is taken to be shifted by δ_g on the natural scale of its
law (log-odds of chances), with δ_g ~ N(0, τ²). It is the rate that is shifted, not each instance: a
rule that is sure of all of them, and wrong, could not be moved. With v the variance of the law,
S_cg = n_cg v(m_g) for the n_cg instances of bag c and group g, and the dispersion φ, totals are, to
first order,

    y_c = Σ_i m_i + Σ_g S_cg δ_g + noise,    Var(noise_c) = V_c = φ Σ_i v(m_i),

so that of each plausible model, given residuals r,

    δ ~ N(A⁻¹ Sᵀ V⁻¹ r, A⁻¹),    A = Sᵀ V⁻¹ S + I / τ².

The residuals are those of bags that were not seen: of those it was fitted to, a model has made them
small, whatever the groups have. Of the model of all bags they are what models of the other bags
miss, and V has the variance of these models, too. A plausible model has those of the model of all,
less what it expects more of a bag: where it gives a group too much, the bags take that back. With
residuals that are the same for all, what is not known of weights would be counted twice.

τ is drawn from a grid with weights exp(−½ (τ / ½)²) times the likelihood of the residuals of bags
left out: where these say that groups are as the model has them, τ is small and little changes. By
such weights alone groups differ by 0.36 (root mean square), which is a rate of 41 % in place of 50.

With fewer bags than features, what sets a group apart may lie outside of what bags have shown. With
a share s of it outside of the span of their means, δ_g has a further part that nobody tells, N(0,
(2.5 s)²) of log-odds: with all of it outside, a rate of one half may be nearly any. That is where
bags lie about what is expected of them as chance has it. Where they lie √φ times as far, it is by
what no bag has shown, too, and all that is drawn is the wider for it already: then the part is N(0,
(2.5 s / φ)²), or it would be counted twice. Constant and power are those of eight pairs that came
nearest to 95 % on development tables (benchmark counts/few_bags). Of amounts, where no law tells
chance from what bags have not shown, the part is N(0, (1.5 s)²) in units of their spread.
"""

import warnings

import numpy as np
from scipy.special import softmax

from mixedbag._laws import expected, exposures, law_of
from mixedbag._span import outside_span
from mixedbag.exceptions import InputError
from mixedbag.pooling import bag_sum

_TAUS = np.array([0.0, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.25, 1.75])  # in units of the law
_USUAL = 0.5  # of τ, before bags tell
_LEAST = 0.05  # of the mean variance: a bag of which all is certain is not believed altogether


class GroupEffects:
    """Shifts of groups, given a model; `codes` are the groups of all instances learned from.

    `outside` is the share of what sets each apart that bags have not shown.
    """

    def __init__(self, model, left, codes, n_groups, outside=0.0):
        self.law, self.bags = law_of(model), left.bags[left.told]
        self.codes, self.n_groups = codes[left.bags.spread(left.told)], n_groups
        cell = self.bags.bag_of * n_groups + self.codes
        self.amount = exposures(model, self.bags)
        members = np.bincount(cell, self.amount, minlength=len(self.bags) * n_groups)
        self.members = members.reshape(-1, n_groups)
        self.dispersion = max(left.spread, self.law.steadiest) ** 2
        self.variance = left.variance
        self.total = left.missed + bag_sum(expected(model, self.bags), self.bags.offsets)
        self.taus = _TAUS * self.law.unit(left.spread)
        self.untold = outside * self.law.untold(left.spread)
        self.weight = self._weight_of_taus(*self._told_by(model))

    def drawn(self, model, rng):
        """A draw of the shifts of all groups."""
        shifts = self._given_bags(model, rng)
        if np.any(self.untold):
            shifts += self.untold * rng.normal(size=self.n_groups)
        return shifts

    def _given_bags(self, model, rng):
        S, V, residual = self._told_by(model)
        tau = self.taus[rng.choice(len(self.taus), p=self.weight)]
        if tau == 0.0:
            return np.zeros(self.n_groups)
        mean, precision = _given(S, V, residual, tau)
        root = np.linalg.cholesky(precision)
        return mean + np.linalg.solve(root.T, rng.normal(size=self.n_groups))

    def mean(self, model):
        """The shifts that are expected."""
        S, V, residual = self._told_by(model)
        shifts = np.zeros(self.n_groups)
        for tau, weight in zip(self.taus, self.weight):
            if tau > 0.0:
                shifts += weight * _given(S, V, residual, tau)[0]
        return shifts

    def _told_by(self, model):
        """S, V and the residuals of bags that were not seen."""
        value = expected(model, self.bags)
        size = np.bincount(self.codes, self.amount, minlength=self.n_groups)
        sums = np.bincount(self.codes, value, minlength=self.n_groups)
        rate = sums / np.where(size > 0, size, 1.0)
        S = self.members * self.law.variance(rate)
        V = self.dispersion * bag_sum(self.law.variance(value), self.bags.offsets)
        V = np.maximum(V, max(_LEAST * V.mean(), np.finfo(float).tiny))
        return S, V + self.variance, self.total - bag_sum(value, self.bags.offsets)

    def _weight_of_taus(self, S, V, residual):
        """Prior times likelihood of r ~ N(0, V + τ² S Sᵀ), by the lemma of Woodbury."""
        within, pull = S.T @ (S / V[:, None]), S.T @ (residual / V)
        gained = [0.0]
        for tau in self.taus[1:]:
            inner = np.eye(self.n_groups) + tau**2 * within
            fit = tau**2 * pull @ np.linalg.solve(inner, pull)
            gained.append(0.5 * (fit - np.linalg.slogdet(inner)[1]))
        return softmax(np.array(gained) - 0.5 * (_TAUS / _USUAL) ** 2)


def _given(S, V, residual, tau):
    """Mean and precision of the shifts."""
    precision = S.T @ (S / V[:, None]) + np.eye(S.shape[1]) / tau**2
    return np.linalg.solve(precision, S.T @ (residual / V)), precision


def judged_groups(model, left, bags, groups, learned_groups=None):
    """Names of groups, the group of each instance, and effects, or None where no bags tell them.

    `left` is what is unexplained of the bags that were learned from, `learned_groups` the groups of
    their instances: `groups`, where these are the same bags.
    """
    groups = np.asarray(groups)
    if len(groups) != bags.n_instances:
        raise InputError(f"{len(groups)} groups for {bags.n_instances} instances")
    judged = left is not None and left.missed is not None
    if judged and learned_groups is None:
        judged = _same(bags, left.bags)
        learned_groups = groups
        if not judged:
            warnings.warn(
                "the groups of the bags that were learned from are not known (learned_groups): "
                "intervals take the model's word for the groups",
                stacklevel=3,
            )
    if not judged:
        return *np.unique(groups, return_inverse=True), None
    learned_groups = np.asarray(learned_groups)
    if len(learned_groups) != left.bags.n_instances:
        raise InputError(
            f"{len(learned_groups)} learned_groups for {left.bags.n_instances} instances"
        )
    names, codes = np.unique(np.concatenate([groups, learned_groups]), return_inverse=True)
    codes, learned = codes[: len(groups)], codes[len(groups) :]
    outside = outside_span(left.bags[left.told], bags, codes, len(names))
    return names, codes, GroupEffects(model, left, learned, len(names), outside)


def _same(bags, others):
    """Whether these are the same instances in the same bags."""
    if bags is others:
        return True
    alike = bags.shape == others.shape and np.array_equal(bags.offsets, others.offsets)
    dense = not (bags.is_sparse or others.is_sparse)
    return alike and dense and np.array_equal(bags.instances, others.instances)
