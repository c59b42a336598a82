"""Random trees of scikit-learn for two classes, grown to the bit, sooner.

What `ExtraTreesClassifier` grows by its depth-first builder: the same numbers at random, the same
order of nodes, the same comparisons. Rows lie column by column, and a threshold is judged by sums
over the rows as they lie; scikit-learn moves them for every threshold that it looks at. Of a sparse
table only what is not zero is looked at, and features that are constant in a node, nearly all of
those of a text, stay where they are, which scikit-learn copies for every node. Weights must add up
without rounding, or the order of the sums would show.
"""

import numpy as np
from numba import njit
from scipy import sparse

_BITS = 2**32 - 1  # of the state of the generator
_DRAWN = 2**31 - 1  # the largest number at random
_CONSTANT = np.float32(1e-7)  # values of a feature no farther apart are equal
_SEED = 1  # where the generator's own would be zero, from which nothing follows
_EPS = np.finfo(float).eps
_UNIT = 2.0**-20  # weights are multiples of it


def adds_up(weight) -> bool:
    """Whether sums of the weights are exact in any order."""
    units = weight / _UNIT
    return bool((units == np.floor(units)).all() and units.sum() < 2.0**53)


class RandomTrees:
    """Rows with weights of either class, from which trees are grown."""

    def __init__(self, rows, codes, weight):
        used = weight != 0.0
        self.columns, self.entries = _stored(rows[used])
        self.weight = np.zeros((2, int(used.sum())))
        self.weight[codes[used], np.arange(self.weight.shape[1])] = weight[used]
        n, n_features = self.weight.shape[1], rows.shape[1]
        self._nodes, self._numbers = np.empty((6, 2 * n), np.int64), np.empty((5, 2 * n))
        self._rows = np.empty((2, n), np.uint32)  # what cannot be negative is not checked
        self._features = np.empty((2, n_features), np.int64)
        self._moved = np.empty((2, n))
        self._values = np.empty(n, np.float32)
        self._stack, self._waiting = np.empty((5, 2 * n), np.int64), np.empty((3, 2 * n))

    def grow(self, random, max_features, lightest, like):
        """The state of a tree by a `RandomState`; `like` is the dtype of its nodes."""
        n_nodes, depth = _grow(
            self.columns, *self.entries, self.weight, random.randint(_DRAWN) or _SEED,
            max_features, lightest, self._nodes, self._numbers, self._rows, self._features,
            self._values, self._moved, self._stack, self._waiting,
        )  # fmt: skip
        nodes = np.zeros(n_nodes, dtype=like)
        left, right, feature, n_rows, to_left, _ = self._nodes[:, :n_nodes]
        threshold, impurity, total, *each = self._numbers[:, :n_nodes]
        nodes["left_child"], nodes["right_child"], nodes["feature"] = left, right, feature
        nodes["n_node_samples"], nodes["missing_go_to_left"] = n_rows, to_left
        nodes["threshold"], nodes["impurity"] = threshold, impurity
        nodes["weighted_n_node_samples"] = total
        values = np.empty((n_nodes, 1, 2))
        np.divide(each, total, out=values[:, 0].T)
        return {"max_depth": depth, "node_count": n_nodes, "nodes": nodes, "values": values}


def _stored(rows):
    """Columns of a dense table, or values, rows and starts of columns of a sparse one."""
    if sparse.issparse(rows):
        table = sparse.csc_array(rows)
        entries = table.data, table.indices.astype(np.uint32), table.indptr.astype(np.int64)
        return np.empty((0, 0), np.float32), entries
    nothing = np.empty(0, np.float32), np.empty(0, np.uint32), np.empty(0, np.int64)
    return np.ascontiguousarray(rows.T), nothing


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(state):
    """The next number at random (Marsaglia's xorshift)."""
    state ^= (state << 13) & _BITS
    state ^= state >> 17
    state ^= (state << 5) & _BITS
    return state, state & _DRAWN


@njit(cache=True, nogil=True, fastmath={"nsz", "reassoc"})
def _sums_left(values, negative, positive, begin, end, threshold):
    """Weights of either class up to a threshold; whole numbers, so in any order."""
    n, p = 0.0, 0.0
    for k in range(np.uint64(begin), np.uint64(end)):
        is_left = values[k] <= threshold
        n += negative[k] if is_left else 0.0
        p += positive[k] if is_left else 0.0
    return n, p


@njit(cache=True, nogil=True, error_model="numpy")
def _gini(n, p):
    total = n + p
    return 1.0 - (n * n + p * p) / (total * total)


@njit(cache=True, nogil=True)
def _column_of(column, rows, begin, end, values):
    """Put the values of a node's rows where these lie: where that is, the lowest, the highest."""
    low = high = column[rows[begin]]
    for k in range(np.uint64(begin), np.uint64(end)):
        x = column[rows[k]]
        values[k] = x
        low, high = min(low, x), max(high, x)
    return begin, end, low, high


@njit(cache=True, nogil=True)
def _entries_of(f, entries, places, starts, place, begin, end, weight, values, moved, n, p):
    """Collect what is not zero in a node, with weights: where, the range, the weights of zeros."""
    found, low, high = 0, np.float32(np.inf), np.float32(-np.inf)
    for k in range(starts[f], starts[f + 1]):
        row = places[k]
        if begin <= place[row] < end:
            x = entries[k]
            values[found], moved[0, found], moved[1, found] = x, weight[0, row], weight[1, row]
            n, p, low, high = n - weight[0, row], p - weight[1, row], min(low, x), max(high, x)
            found += 1
    if found < end - begin:
        low, high = min(low, np.float32(0.0)), max(high, np.float32(0.0))
    return 0, found, low, high, n, p


@njit(cache=True, nogil=True)
def _part_column(column, threshold, rows, negative, positive, begin, end):
    """Bring rows up to a threshold before the others: where these begin."""
    i, j = begin, end
    while i < j:
        if column[rows[i]] <= threshold:
            i += 1
        else:
            j -= 1
            rows[i], rows[j] = rows[j], rows[i]
            negative[i], negative[j] = negative[j], negative[i]
            positive[i], positive[j] = positive[j], positive[i]
    return i


@njit(cache=True, nogil=True)
def _part_entries(f, threshold, entries, places, starts, rows, place, begin, end):
    """The same, moving only rows that are on the other side of the threshold than zero is."""
    i, zeros_left = (end, True) if threshold >= 0.0 else (begin, False)
    for k in range(starts[f], starts[f + 1]):
        row = places[k]
        if begin <= place[row] < end and (entries[k] <= threshold) != zeros_left:
            i -= 1 if zeros_left else 0
            other, here = rows[i], place[row]
            rows[i], rows[here], place[row], place[other] = row, other, i, here
            i += 0 if zeros_left else 1
    return i


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(
    columns, entries, places, starts, weight, state, max_features, lightest, nodes, numbers, order,
    drawn, values, moved, stack, waiting,
):  # fmt: skip
    """Fill `nodes` and `numbers`, from the root on; how many there are, and the depth."""
    n_features, n_rows = drawn.shape[1], weight.shape[1]
    is_sparse = len(starts) > 0
    rows, place = order[0], order[1]  # the rows as they lie, and where each of them lies
    features, exchanged = drawn[0], drawn[1]
    negative, positive = moved[0], moved[1]
    whole_n, whole_p = 0.0, 0.0
    for k in range(n_rows):
        rows[k], place[k], negative[k], positive[k] = k, k, weight[0, k], weight[1, k]
        whole_n += weight[0, k]
        whole_p += weight[1, k]
    for f in range(n_features):
        features[f] = f
    n_nodes, deepest, n_waiting = 0, 0, 1
    stack[0, 0], stack[1, 0], stack[2, 0], stack[3, 0], stack[4, 0] = 0, n_rows, 0, -1, 0
    waiting[0, 0], waiting[1, 0], waiting[2, 0] = whole_n, whole_p, _gini(whole_n, whole_p)
    while n_waiting > 0:
        n_waiting -= 1
        begin, end, depth = stack[0, n_waiting], stack[1, n_waiting], stack[2, n_waiting]
        parent, n_known = stack[3, n_waiting], stack[4, n_waiting]
        n, p, impurity = waiting[0, n_waiting], waiting[1, n_waiting], waiting[2, n_waiting]
        total, n_constant = n + p, n_known
        best, best_threshold, best_n, best_p, lowest = -1, 0.0, 0.0, 0.0, -np.inf
        if end - begin >= 2 and total >= 2 * lightest and impurity > _EPS:
            # Features are drawn without putting back. In `features` come first those known to be
            # constant here (the drawn ones first), then those found to be so, then those not yet
            # drawn, up to `last`.
            last, n_found, n_drawn, n_visited = n_features, 0, 0, 0
            while last > n_constant and (
                n_visited < max_features or n_visited <= n_found + n_drawn
            ):
                n_visited += 1
                state, number = _draw(state)
                j = n_drawn + number % (last - n_found - n_drawn)
                if j < n_known:
                    features[n_drawn], features[j] = features[j], features[n_drawn]
                    exchanged[n_drawn] = j
                    n_drawn += 1
                    continue
                j += n_found
                f = features[j]
                if is_sparse:
                    first, past, low, high, zero_n, zero_p = _entries_of(
                        f, entries, places, starts, place, begin, end, weight, values, moved, n, p
                    )
                else:
                    first, past, low, high = _column_of(columns[f], rows, begin, end, values)
                if high <= low + _CONSTANT:
                    features[j], features[n_constant] = features[n_constant], f
                    n_found += 1
                    n_constant += 1
                    continue
                last -= 1
                features[last], features[j] = features[j], features[last]
                state, number = _draw(state)
                span = np.float64(high) - np.float64(low)
                threshold = span * np.float64(number) / np.float64(_DRAWN) + np.float64(low)
                if threshold == np.float64(high):
                    threshold = np.float64(low)
                left_n, left_p = _sums_left(values, negative, positive, first, past, threshold)
                if is_sparse and threshold >= 0.0:
                    left_n, left_p = left_n + zero_n, left_p + zero_p
                left, right = left_n + left_p, (n - left_n) + (p - left_p)
                if left < lightest or right < lightest:
                    continue
                gain = -right * _gini(n - left_n, p - left_p) - left * _gini(left_n, left_p)
                if gain > lowest:
                    lowest, best, best_threshold = gain, f, threshold
                    best_n, best_p = left_n, left_p
            while n_drawn > 0:  # siblings and children find them in the same order
                n_drawn -= 1
                j = exchanged[n_drawn]
                features[n_drawn], features[j] = features[j], features[n_drawn]
        if best >= 0:
            left_impurity, right_impurity = _gini(best_n, best_p), _gini(n - best_n, p - best_p)
            left, right = best_n + best_p, (n - best_n) + (p - best_p)
            gained = impurity - (right / total * right_impurity) - (left / total * left_impurity)
            if total / (whole_n + whole_p) * gained + _EPS < 0.0:
                best = -1
        node = n_nodes
        n_nodes += 1
        deepest = max(deepest, depth)
        if parent >= 0:
            nodes[parent % 2, parent // 2] = node
        nodes[0, node] = nodes[1, node] = -1
        nodes[2, node], nodes[3, node], nodes[4, node] = -2, end - begin, 0
        numbers[0, node], numbers[1, node], numbers[2, node] = -2.0, impurity, total
        numbers[3, node], numbers[4, node] = n, p
        if best < 0:
            continue
        if is_sparse:
            i = _part_entries(
                best, best_threshold, entries, places, starts, rows, place, begin, end
            )
        else:
            i = _part_column(columns[best], best_threshold, rows, negative, positive, begin, end)
        nodes[2, node], numbers[0, node] = best, best_threshold
        nodes[4, node] = i - begin > end - i
        for is_right in (1, 0):  # the left one is taken up next
            stack[0, n_waiting] = i if is_right else begin
            stack[1, n_waiting] = end if is_right else i
            stack[2, n_waiting], stack[3, n_waiting] = depth + 1, 2 * node + is_right
            stack[4, n_waiting] = n_constant
            waiting[0, n_waiting] = n - best_n if is_right else best_n
            waiting[1, n_waiting] = p - best_p if is_right else best_p
            waiting[2, n_waiting] = right_impurity if is_right else left_impurity
            n_waiting += 1
    return n_nodes, deepest
