"""Lift-and-project cuts (thesis sections 7.4.3 and 7.4.4).

A relaxation F of the program holds some valid rows. If a positive bag is violated at its solution,
the solution may be cut off: every point of the program lies in the convex hull of the pieces
F ∩ {x is the witness}, one for each instance x of the bag. Whether a point lies in that hull is a
linear program (see `_membership`); if it does not, the LP's duals are the multipliers of a valid
inequality that the point violates.
"""

import numpy as np

from mixedbag.disjunctive._membership import multipliers_against

_LARGEST_BAG = 50  # instances of a bag in one membership LP


class Cut:
    """A valid inequality α·(b, ξ, w⁺, w⁻) ≥ β, with the multipliers that prove it.

    Attributes
    ----------
    features : (2 n_features,) coefficients of the signed features.
    fixed : (1 + n_examples,) coefficients of the bias and of the slacks.
    beta : float
    bag : int
        The positive bag whose disjunction it comes from.
    rows : list
        Rows of the relaxation that the proof uses: instances (int) or earlier cuts.
    multipliers : (n_instances of the bag, n_rows + 1) array, not negative
        Where instance x is the witness, the cut follows from `rows` and, last, the margin row of x,
        weighted by the multipliers of x.
    """

    def __init__(self, features, fixed, beta, bag, rows, multipliers):
        self.features = features
        self.fixed = fixed
        self.beta = beta
        self.bag = bag
        self.rows = rows
        self.multipliers = multipliers

    def direction(self, columns):
        """The unit vector along (α, β), with these features alone, for angles between cuts."""
        vector = np.concatenate([self.features[columns], self.fixed, [self.beta]])
        return vector / np.linalg.norm(vector)


def row_arrays(program, rows):
    """(features, fixed, beta) of margin rows and cuts, full width."""
    features = np.empty((len(rows), 2 * program.n_features))
    fixed = np.zeros((len(rows), 1 + program.n_examples))
    beta = np.ones(len(rows))
    for r, row in enumerate(rows):
        if isinstance(row, Cut):
            features[r], fixed[r], beta[r] = row.features, row.fixed, row.beta
    plain = [r for r, row in enumerate(rows) if not isinstance(row, Cut)]
    if plain:
        ids = [rows[r] for r in plain]
        features[plain] = program.full_rows(ids)
        fixed[plain, 0] = program.sign[ids] if program.intercept else 0.0
        fixed[plain, 1 + program.example[ids]] = 1.0
    return features, fixed, beta


class CutGenerator:
    """Cuts off the current solution of a master, bag by bag.

    Only rows tight at the solution and columns in its support enter the membership LP: loose rows
    would get no multiplier, and a column at zero is zero in every piece. Margin rows that hold only
    thanks to their slack are left out as well (unless `thorough`): the bound hardly notices, and
    the LP shrinks by two thirds. The cut is then rebuilt at full width from its multipliers, so
    that it is valid whatever was left out and whatever HiGHS's tolerances were.

    Parameters
    ----------
    normalization : {"multipliers", "coefficients"}
        What has size one: the sum of all multipliers, or ‖α‖₁ as in the thesis (which needs all
        columns of the master in the LP, and is slower).
    thorough : bool
        Whether margin rows that hold thanks to their slack enter as well: slower, but a cut is
        found wherever there is one.
    """

    def __init__(self, master, upper, normalization="multipliers", thorough=False):
        self.program = master.program
        self.clock = master.clock
        self.normalization = normalization
        self.rows = [
            row for row in master.tight_rows() if thorough or self._binds(row, master.slack)
        ]
        self.features, self.fixed, self.beta = row_arrays(self.program, self.rows)
        signed_w = np.zeros(2 * self.program.n_features)
        signed_w[master.active] = master.signed_w
        self.signed_w = signed_w
        self.fixed_values = np.concatenate([[master.b], master.slack])
        self.largest_intercept = self.program.intercept_bound(upper)
        if normalization == "multipliers":
            self.columns = np.flatnonzero(signed_w > 1e-9)
            self.slacks = 1 + np.flatnonzero(master.slack > 1e-9)
        else:
            self.columns = master.active
            self.slacks = np.arange(1, 1 + self.program.n_examples)
        self._drop_twins()

    def _drop_twins(self):
        """Keep one of the rows that look alike in the LP: in text, most negatives do.

        A slack that one row alone has makes no difference: the weight of a twin had better go to
        the row that is kept.
        """
        shared = self.slacks[np.count_nonzero(self.fixed[:, self.slacks], axis=0) > 1]
        seen = np.column_stack(
            [self.features[:, self.columns], self.fixed[:, 0], self.fixed[:, shared], self.beta]
        )
        keep = np.sort(np.unique(np.round(seen, 9), axis=0, return_index=True)[1])
        self.rows = [self.rows[r] for r in keep]
        self.features, self.fixed = self.features[keep], self.fixed[keep]
        self.beta = self.beta[keep]

    def _binds(self, row, slack):
        return isinstance(row, Cut) or slack[self.program.example[row]] <= 1e-9

    def cut(self, bag):
        """A cut for this positive bag, or None if none was found that the solution violates."""
        instances = [int(x) for x in self.program.bags[bag]]
        own = row_arrays(self.program, instances)
        if len(instances) <= _LARGEST_BAG:
            multipliers = self._multipliers(own)
        else:
            multipliers = self._borrowed_multipliers(own)
        cut = self._rebuild(bag, own, multipliers)
        return cut if self.depth(cut) > 1e-7 else None

    def depth(self, cut):
        """By how much the current solution violates a cut."""
        return cut.beta - cut.features @ self.signed_w - cut.fixed @ self.fixed_values

    def _multipliers(self, own):
        """Multipliers (instances of the bag, tight rows + 1) that cut the solution off."""
        features, fixed, _ = own
        bias = [0] if self.program.intercept else []
        others = np.concatenate([np.array(bias, dtype=np.int64), self.slacks])
        # What no row here knows is left out: any piece can take it.
        others = others[self.fixed[:, others].any(axis=0) | fixed[:, others].any(axis=0)]
        columns = self.columns
        columns = columns[self.features[:, columns].any(axis=0) | features[:, columns].any(axis=0)]
        return multipliers_against(
            np.concatenate([self.signed_w[columns], self.fixed_values[others]]),
            np.hstack([self.features[:, columns], self.fixed[:, others]]),
            self.beta,
            np.hstack([features[:, columns], fixed[:, others]]),
            np.concatenate([np.zeros(len(columns), dtype=bool), others == 0]),
            self.normalization,
            self.clock,
        )

    def _borrowed_multipliers(self, own):
        """For a large bag: multipliers of its most positive instances, lent to the others.

        Any multipliers prove some cut. Each of the other instances takes those under which it
        raises α least at the solution.
        """
        features, fixed, beta = own
        support = np.flatnonzero(self.signed_w > 0)
        parts, w = features[:, support], self.signed_w[support]
        lenders = np.argsort(-(parts @ w), kind="stable")[:_LARGEST_BAG]
        few = self._multipliers((features[lenders], fixed[lenders], beta[lenders]))
        base = few[:, :-1] @ self.features[:, support]
        alpha = (base + few[:, -1:] * parts[lenders]).max(axis=0)
        cost = np.stack(
            [np.maximum(base[k] + few[k, -1] * parts - alpha, 0.0) @ w for k in range(len(lenders))]
        )
        lender = cost.argmin(axis=0)
        lender[lenders] = np.arange(len(lenders))
        return few[lender]

    def _rebuild(self, bag, own, multipliers):
        """The strongest inequality that these multipliers prove, over all columns."""
        features, fixed, beta = own
        used = np.flatnonzero(multipliers[:, :-1].any(axis=0))
        shared, last = multipliers[:, used], multipliers[:, -1:]
        alpha = (shared @ self.features[used] + last * features).max(axis=0)
        alpha_fixed = shared @ self.fixed[used] + last * fixed
        value = (shared @ self.beta[used] + last[:, 0] * beta).min()
        # The bias has no sign: pieces must agree on its coefficient, or pay for the difference.
        bias = alpha_fixed[:, 0]
        middle = (bias.max() + bias.min()) / 2
        value -= (bias.max() - bias.min()) / 2 * self.largest_intercept
        alpha_fixed = alpha_fixed.max(axis=0)
        alpha_fixed[0] = middle
        scale = max(np.abs(alpha).max(initial=0.0), 1e-12)
        return Cut(
            alpha / scale,
            alpha_fixed / scale,
            value / scale,
            bag,
            [self.rows[r] for r in used],
            np.hstack([shared, last]) / scale,
        )
