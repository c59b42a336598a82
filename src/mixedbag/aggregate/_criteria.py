"""What a split of an aggregate tree is worth, measured over all bags at once."""

import numpy as np
from scipy import linalg

from mixedbag.aggregate._growth import Split, rows_of
from mixedbag.aggregate._splits import TIE, sweep_labels, sweep_values


class LabelCriterion:
    """Eq. 12: Σ_c w_c Σ_k (count_ck − predicted_ck)², every leaf predicting one class.

    With two classes both columns have the same residuals up to sign, and the sum is twice that of
    the aggregate-outputs paper.
    """

    def __init__(self, counts, sizes, weight):
        self.weight = weight
        self.residual = counts.copy()
        self.label, self.column = {}, {}
        self._predict(0, int(np.argmin(self._single_label_costs(sizes))), sizes)

    @property
    def error(self):
        return float(self.weight @ (self.residual**2).sum(axis=1))

    def _predict(self, number, label, inside):
        self.label[number], self.column[number] = label, inside
        self.residual[:, label] -= inside

    def _take_back(self, number):
        inside = self.column.pop(number)
        self.residual[:, self.label.pop(number)] += inside
        return inside

    def _single_label_costs(self, inside):
        return (self.weight * inside) @ (inside[:, None] - 2.0 * self.residual)

    def best_split(self, rows, leaf, features, min_leaf):
        inside = self._take_back(leaf.number)
        whole = self._single_label_costs(inside)
        single = int(np.argmin(whole))
        cost, feature, n_left, threshold, left, right = sweep_labels(
            rows.order,
            rows.columns,
            rows.bag_of,
            leaf.start,
            leaf.stop,
            features,
            min_leaf,
            self.residual,
            inside,
            whole,
            self.weight,
        )
        self._predict(leaf.number, single, inside)
        if feature < 0 or not self.residual[inside > 0].any():
            return None
        # The paper also tries equal labels, "yes/yes" and "no/no": the same error wherever the
        # split is. Where they win, the best unequal split still says where classes may part.
        worth = cost < whole[single] - TIE * max(1.0, np.abs(whole).max())
        return Split(feature, n_left, threshold, (left, right) if worth else (single, single))

    def divide(self, rows, leaf, children, split):
        self._take_back(leaf.number)
        for child, label in zip(children, split.detail):
            self._predict(child.number, label, self._inside(rows, child))

    def _inside(self, rows, leaf):
        n_bags = len(self.residual)
        return np.bincount(rows.bag_of[rows_of(rows, leaf)], minlength=n_bags).astype(float)

    def merge(self, leaves, number):
        """Make one leaf of several, with the label that suits it best."""
        inside = sum(self._take_back(leaf) for leaf in leaves)
        self._predict(number, int(np.argmin(self._single_label_costs(inside))), inside)

    def merged(self, leaves):
        """The error if these leaves were one."""
        labels = {leaf: self.label[leaf] for leaf in leaves}
        columns = {leaf: self.column[leaf] for leaf in leaves}
        self.merge(leaves, -1)
        error = self.error
        self._take_back(-1)
        for leaf in leaves:
            self._predict(leaf, labels[leaf], columns[leaf])
        return error

    def values(self, n_nodes):
        value = np.zeros((n_nodes, self.residual.shape[1]))
        for number, label in self.label.items():
            value[number, label] = 1.0
        return value


class ValueCriterion:
    """Eq. 14: Σ_c w_c (Σ_l k_cl (r_0 + r_l) − y_c)² + C Σ_l r_l², all values re-solved each time.

    With C = 0 the baseline r_0 says nothing that the leaves cannot say, and is left out.
    `slope` is what each instance adds to its bag's k_cl: one, unless the tree corrects a model
    whose output is a curved function of the score.
    """

    def __init__(self, total, bag_of, weight, ridge, slope=None):
        self.total = total
        self.weight = weight
        self.ridge = ridge
        self.slope = np.ones(len(bag_of)) if slope is None else slope
        sizes = np.bincount(bag_of, self.slope, minlength=len(total))
        self.baseline = [sizes] if ridge > 0 else []
        self.column = {0: sizes}
        self.error = self._solve(self.column)[1]

    def _design(self, columns):
        """A, AᵀWA and its regularised form, for the baseline and `columns`."""
        A = np.column_stack([*self.baseline, *columns, np.empty((len(self.total), 0))])
        gram = A.T @ (self.weight[:, None] * A)
        penalty = np.full(A.shape[1], self.ridge or 1e-11 * np.trace(gram) / max(1, len(gram)))
        penalty[: len(self.baseline)] = 0.0
        return A, gram + np.diag(penalty)

    def _solve(self, column):
        """Leaf values, the baseline added, and the value of eq. 14."""
        A, gram = self._design(column.values())
        solution = linalg.lstsq(gram, A.T @ (self.weight * self.total))[0]
        leaves = solution[len(self.baseline) :]
        residual = A @ solution - self.total
        error = self.weight @ residual**2 + self.ridge * leaves @ leaves
        return leaves + solution[: len(self.baseline)].sum(), float(error)

    def best_split(self, rows, leaf, features, min_leaf):
        k = self.column[leaf.number]
        A, gram = self._design(c for number, c in self.column.items() if number != leaf.number)
        solved = linalg.solve(gram, A.T, assume_a="pos").T.copy() if A.shape[1] else A

        def project(v):
            return self.weight * (v - solved @ (A.T @ (self.weight * v)))

        split_p, total_p = project(k), project(self.total)
        k_p_k, k_p_y = k @ split_p, k @ total_p
        floor = 1e-9 * (self.weight @ k**2) / (leaf.stop - leaf.start)
        unsplit = k_p_y**2 / (k_p_k + self.ridge) if k_p_k + self.ridge > floor else 0.0
        gain, feature, n_left, threshold = sweep_values(
            rows.order,
            rows.columns,
            rows.bag_of,
            leaf.start,
            leaf.stop,
            features,
            min_leaf,
            self.slope,
            self.weight,
            A,
            solved,
            np.einsum("ij,ij->i", solved, A),
            split_p,
            total_p,
            k_p_k,
            k_p_y,
            self.ridge,
            floor,
            unsplit,
        )
        if feature < 0:
            return None
        return Split(feature, n_left, threshold, (gain - unsplit,))

    def divide(self, rows, leaf, children, split):
        del self.column[leaf.number]
        for child in children:
            members = rows_of(rows, child)
            self.column[child.number] = np.bincount(
                rows.bag_of[members], self.slope[members], minlength=len(self.total)
            )
        self.error -= split.detail[0]

    def _joined(self, leaves, number):
        rest = {leaf: k for leaf, k in self.column.items() if leaf not in leaves}
        return rest | {number: sum(self.column[leaf] for leaf in leaves)}

    def merge(self, leaves, number):
        """Make one leaf of several."""
        self.column = self._joined(leaves, number)
        self.error = self._solve(self.column)[1]

    def merged(self, leaves):
        """Eq. 14 if these leaves were one."""
        return self._solve(self._joined(leaves, -1))[1]

    def values(self, n_nodes):
        value = np.zeros(n_nodes)
        value[list(self.column)] = self._solve(self.column)[0]
        return value
