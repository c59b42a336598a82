"""Better labels of eq. 9 where there are too many instances to judge exchanges one by one.

Labels and machine in turn soon stop at labels that suit their own machine. What leads on is to
exchange a pair of labels in many bags at once, and to alternate again from there. With multipliers
exchanged, too, the dual value of the new labels is known without solving for them: it bounds their
objective from below, and tells which pairs to try. Only what lowers the objective is kept.
"""

import numpy as np

BETTER = 1e-5  # what labels have to gain, relatively, to be taken


class BatchedSearch:
    """Machines solved for labels, of which there are `solves` at most.

    `judge(labels)` solves the machine for labels, and returns the labels that suit it best and
    their objective.
    """

    def __init__(self, machine, offsets, judge, solves):
        self.machine, self.offsets, self.judge, self.solves = machine, offsets, judge, solves

    def best_of(self, starts):
        """The best labels reached from any of `starts`, and the objectives on the way to them."""
        labels, objective, history = None, np.inf, []
        for start in starts:
            reached, value = self._alternated(start)
            if value < objective:
                labels, objective = reached, value
                history.append(value)
        return self._exchanged(labels, objective, history)

    def _alternated(self, labels):
        """Labels that suit the machine of their own, or gain no more by suiting it."""
        objective = np.inf
        while True:
            self.solves -= 1
            suited, value = self.judge(labels)
            if (suited == labels).all() or not value < objective * (1.0 - BETTER):
                return labels, min(value, objective)
            labels, objective = suited, value

    def _exchanged(self, labels, objective, history):
        """Exchange in a quarter of the bags; in half as many if that is worse, else in twice."""
        many = (len(self.offsets) - 1) // 4
        while self.solves > 0:
            self.judge(labels)
            first, second = self._promising(labels)
            begin, gained = 0, False
            while self.solves > 0 and begin < len(first) and not gained:
                trial = labels.copy()
                trial[first[begin : begin + many]] = False
                trial[second[begin : begin + many]] = True
                reached, value = self._alternated(trial)
                gained = value < objective * (1.0 - BETTER)
                if gained:
                    labels, objective, many = reached, value, 2 * many
                    history.append(value)
                elif many > 1:
                    many //= 2
                else:
                    begin += 1
            if not gained:
                break
        return labels, history

    def _promising(self, labels):
        """Of every bag the pair (positive, negative) that promises most; the best come first."""
        scores, dual = self.machine.scores, self.machine.dual
        pairs, change = [], []
        for start, stop in zip(self.offsets, self.offsets[1:]):
            inside = np.arange(start, stop)
            up, down = inside[labels[start:stop]], inside[~labels[start:stop]]
            if len(up) and len(down):
                shift = dual[up, None] - dual[down]
                apart = self.machine.distances(up, down)
                after = shift * (scores[up, None] - scores[down] - 0.5 * shift * apart)
                best = np.unravel_index(after.argmin(), after.shape)
                pairs.append((up[best[0]], down[best[1]]))
                change.append(after[best])
        order = np.argsort(change, kind="stable")[: np.count_nonzero(np.array(change) < 0.0)]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)[order].T
