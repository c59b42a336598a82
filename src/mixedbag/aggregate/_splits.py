"""Sweeps over every threshold of every feature, for the aggregate trees.

Rows are sorted once per feature; a node owns the same segment ``start:stop`` of every row of
`order`. Sending one more instance to the left child changes one bag only, so the criterion of all
thresholds costs O(1) (labels) or O(leaves) (values) a threshold, where re-evaluating the tree on
the training set, as the aggregate-outputs paper describes it, costs O(instances).
"""

import numpy as np
from numba import njit

from mixedbag._tables import frozen

# Splits whose gains differ by less than this share are ties, won by the first one, so that the
# order in which sums were rounded does not decide the tree.
TIE = 1e-9


def sweep_labels(
    order, columns, bag_of, start, stop, features, min_leaf, residual, inside, whole, weight
):
    """The split of a node into two children of different labels with the least eq. 12.

    `residual` (n_bags, n_classes) is count minus prediction without this node, `inside` the bags'
    instances in the node. Up to a constant, labels p left and q right cost ``Σ_c w_c (a_c² −
    2 a_c r_cp) + Σ_c w_c (b_c² − 2 b_c r_cq)`` with a and b the bags' instances on either side.
    `whole` is the first sum with all of the node on one side: what each single label costs.

    Returns the cost, the feature (−1 if there is no split), the number of rows that go left, the
    threshold, and the two labels.
    """
    margin = TIE * max(1.0, np.abs(whole).max())
    scratch = np.empty(len(residual)), np.empty(len(whole)), np.empty(len(whole))
    # What may be read-only always is: else a sweep would be compiled for either.
    node = order, frozen(columns), bag_of, start, stop, features, min_leaf
    return _sweep_labels(*node, residual, inside, whole, frozen(weight), margin, *scratch)


@njit(cache=True, nogil=True)
def _sweep_labels(
    order,
    columns,
    bag_of,
    start,
    stop,
    features,
    min_leaf,
    residual,
    inside,
    whole,
    weight,
    margin,
    went_left,
    left,
    right,
):
    n_classes = len(whole)
    best = (np.inf, -1, 0, 0.0, 0, 0)
    for feature in features:
        rows = order[feature]
        values = columns[feature]
        for i in range(start, stop):
            went_left[bag_of[rows[i]]] = 0.0
        for p in range(n_classes):
            left[p] = 0.0
            right[p] = whole[p]
        for i in range(start, stop - min_leaf):
            row = rows[i]
            c = bag_of[row]
            a = went_left[c]
            b = inside[c] - a
            went_left[c] = a + 1.0
            for p in range(n_classes):
                r = residual[c, p]
                left[p] += weight[c] * (2.0 * (a - r) + 1.0)
                right[p] += weight[c] * (2.0 * (r - b) + 1.0)
            here = values[row]
            there = values[rows[i + 1]]
            if i + 1 - start < min_leaf or here == there:
                continue
            for p in range(n_classes):
                for q in range(n_classes):
                    if p != q and left[p] + right[q] < best[0] - margin:
                        best = (
                            left[p] + right[q],
                            feature,
                            i + 1 - start,
                            _between(here, there),
                            p,
                            q,
                        )
    return best


def sweep_values(
    order,
    columns,
    bag_of,
    start,
    stop,
    features,
    min_leaf,
    slope,
    weight,
    others,
    solved,
    leverage,
    split_p,
    total_p,
    split_p_split,
    split_p_total,
    ridge,
    floor,
    gain,
):
    """The split of a node with the least eq. 14, all leaf values re-solved.

    With A the columns of the other leaves (`others`; bag sizes first), G = AᵀWA + R and
    P = W − W A G⁻¹ AᵀW, the children's columns a and b = k − a see the totals only through P:
    the objective falls by vᵀM⁻¹v, M = [aᵀPa + C, aᵀPb; aᵀPb, bᵀPb + C], v = (aᵀPy, bᵀPy).
    `solved` is A G⁻¹, `leverage` its row products with A; `split_p` is Pk, `total_p` is Py,
    followed by kᵀPk and kᵀPy. `slope` is what an instance adds to its bag's column (1 in a plain
    tree). Gains that do not exceed `gain` are not splits, nor are sides that the other leaves
    already explain: those of which P leaves no more than `floor`.

    Returns the gain, the feature (−1 if none), the number of rows that go left and the threshold.
    """
    node = order, frozen(columns), bag_of, start, stop, features, min_leaf
    seen = slope, frozen(weight), others, solved, leverage, split_p, total_p
    scratch = np.empty(len(others)), np.empty(others.shape[1])
    return _sweep_values(*node, *seen, split_p_split, split_p_total, ridge, floor, gain, *scratch)


@njit(cache=True, nogil=True)
def _sweep_values(
    order,
    columns,
    bag_of,
    start,
    stop,
    features,
    min_leaf,
    slope,
    weight,
    others,
    solved,
    leverage,
    split_p,
    total_p,
    split_p_split,
    split_p_total,
    ridge,
    floor,
    gain,
    went_left,
    z,
):
    n_others = len(z)  # z is AᵀWa
    best = (gain, -1, 0, 0.0)
    margin = TIE * max(1e-300, gain)
    for feature in features:
        rows = order[feature]
        values = columns[feature]
        for i in range(start, stop):
            went_left[bag_of[rows[i]]] = 0.0
        for j in range(n_others):
            z[j] = 0.0
        a_w_a = 0.0
        z_g_z = 0.0
        a_p_k = 0.0
        a_p_y = 0.0
        for i in range(start, stop - min_leaf):
            row = rows[i]
            c = bag_of[row]
            s = slope[row]
            w = weight[c]
            a_w_a += w * s * (2.0 * went_left[c] + s)
            went_left[c] += s
            along = 0.0
            for j in range(n_others):
                along += solved[c, j] * z[j]
                z[j] += w * s * others[c, j]
            z_g_z += w * s * (2.0 * along + w * s * leverage[c])
            a_p_k += s * split_p[c]
            a_p_y += s * total_p[c]
            here = values[row]
            there = values[rows[i + 1]]
            if i + 1 - start < min_leaf or here == there:
                continue
            a_p_a = a_w_a - z_g_z
            m_aa = a_p_a + ridge
            m_ab = a_p_k - a_p_a
            m_bb = split_p_split - 2.0 * a_p_k + a_p_a + ridge
            v_b = split_p_total - a_p_y
            determinant = m_aa * m_bb - m_ab * m_ab
            if m_aa <= floor or m_bb <= floor or determinant <= 1e-10 * m_aa * m_bb:
                continue
            gain = (
                m_bb * a_p_y * a_p_y - 2.0 * m_ab * a_p_y * v_b + m_aa * v_b * v_b
            ) / determinant
            if gain > best[0] + margin:
                best = (gain, feature, i + 1 - start, _between(here, there))
                margin = TIE * gain
    return best


@njit(cache=True, nogil=True)
def _between(low, high):
    """A threshold that sends `low` left and `high` right, whatever the rounding."""
    middle = 0.5 * low + 0.5 * high
    return low if middle >= high else middle


def partition(order, n_instances, start, stop, feature, n_left):
    """Move the node's first `n_left` rows by `feature` to the front of every feature's segment.

    The order inside each side is kept, so nothing is sorted twice.
    """
    scratch = np.zeros(n_instances, dtype=np.bool_), np.empty(stop - start, dtype=order.dtype)
    _partition(order, start, stop, feature, n_left, *scratch)


@njit(cache=True, nogil=True)
def _partition(order, start, stop, feature, n_left, goes_left, kept):
    for i in range(start, start + n_left):
        goes_left[order[feature, i]] = True
    for f in range(order.shape[0]):
        if f == feature:
            continue
        rows = order[f]
        front = start
        n_kept = 0
        for i in range(start, stop):
            row = rows[i]
            if goes_left[row]:
                rows[front] = row
                front += 1
            else:
                kept[n_kept] = row
                n_kept += 1
        for k in range(n_kept):
            rows[front + k] = kept[k]


def descend(X, feature, threshold, left, right):
    """The leaf that each row reaches."""
    leaf = np.empty(X.shape[0], dtype=np.int64)
    _descend(*map(frozen, (X, feature, threshold, left, right)), leaf)
    return leaf


@njit(cache=True, nogil=True)
def _descend(X, feature, threshold, left, right, leaf):
    for i in range(X.shape[0]):
        node = 0
        while feature[node] >= 0:
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
        leaf[i] = node
