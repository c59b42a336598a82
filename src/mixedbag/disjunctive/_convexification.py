"""Sequential convexification: rounds of lift-and-project cuts (thesis Algorithm 7.1)."""

import numpy as np

from mixedbag._solvers.highs import SolverStopped
from mixedbag.disjunctive._cuts import Cut, CutGenerator

_VIOLATED = 1e-6


class Convexification:
    """Tightens a master by rounds of cuts for violated bags.

    Parameters
    ----------
    master : RestrictedMaster
        Without witness rows: its relaxation must stay valid for the whole program.
    incumbent : Incumbent
        Its lower bound is raised every round.
    max_cosine : float
        A cut is refused when its angle with an earlier one has a larger cosine; 1 accepts all.
    normalization : str
        See `CutGenerator`.
    keep : int or None
        How many cuts of a round are kept, the deepest; None keeps all.
    depth_tol : float
        A cut is refused when it is shallower than this fraction of the relaxed value.
    patience : int
        A cut that has been slack for so many rounds is dropped.

    Attributes
    ----------
    thorough : bool
        While set, cuts are made of all tight rows and none is dropped, so that cutting goes on
        as long as the relaxed solution lies outside of some bag's hull.
    refused : bool
        Whether a round since this was unset found cuts that were not let in.
    """

    def __init__(
        self,
        master,
        incumbent,
        max_cosine=1.0,
        normalization="multipliers",
        keep=None,
        depth_tol=0.0,
        patience=3,
    ):
        self.master = master
        self.incumbent = incumbent
        self.max_cosine = max_cosine
        self.normalization = normalization
        self.keep = keep
        self.depth_tol = depth_tol
        self.patience = patience
        self.thorough = False
        self.refused = False
        self._idle = {}

    @property
    def cuts(self):
        """The cuts in the relaxation."""
        return [row for row in self.master.rows if isinstance(row, Cut)]

    def solve(self):
        """Settle the master and take its bound."""
        self.master.settle()
        self.incumbent.raise_lower(self.master.lower_bound(self.incumbent.upper))

    def violated_bags(self):
        """Bags that the relaxed solution leaves short of their margin, the costliest first."""
        program, master = self.master.program, self.master
        best = master.scores[program.best_instances(master.scores)]
        short = 1.0 - best - master.slack[: len(best)]
        bags = program.ambiguous[short[program.ambiguous] > _VIOLATED]
        return bags[np.argsort(-short[bags] * program.slack_cost[bags], kind="stable")]

    def round(self, bags):
        """Cut the current solution off for each of these bags; returns the number of new cuts."""
        generator = CutGenerator(
            self.master, self.incumbent.upper, self.normalization, self.thorough
        )
        cuts = found = [cut for bag in bags if (cut := self._cut(generator, bag)) is not None]
        if self.depth_tol > 0:
            least = self.depth_tol * self.master.value
            cuts = [cut for cut in cuts if generator.depth(cut) >= least]
        if self.max_cosine < 1.0 or self.keep is not None:
            cuts = self._distinct(sorted(cuts, key=generator.depth, reverse=True))
        self.refused |= len(cuts) < len(found)
        if cuts:
            self.master.add_cuts(cuts)
            self.incumbent.n_cuts += len(cuts)
            self.solve()
            if not self.thorough:
                self._purge()
        return len(cuts)

    def _cut(self, generator, bag):
        try:
            return generator.cut(bag)
        except SolverStopped:
            if self.master.clock.expired():
                raise
            return None  # numerical trouble with one bag: the others may still be cut

    def _distinct(self, cuts):
        """The first `keep` cuts, each at a large enough angle to all others.

        Angles are those of the selected features, or of all where columns come as they are needed.
        """
        if self.max_cosine >= 1.0:
            return cuts[: self.keep]
        columns = slice(None) if self.master.generates_columns else self.master.active
        accepted = [cut.direction(columns) for cut in self.cuts]
        kept: list[Cut] = []
        for cut in cuts:
            if len(kept) == self.keep:
                break
            mine = cut.direction(columns)
            if all(mine @ other < self.max_cosine for other in accepted):
                kept.append(cut)
                accepted.append(mine)
        return kept

    def _purge(self):
        """Drop cuts that have been slack for a while: they only slow the next LPs down."""
        drop, still = [], {}  # cuts that are gone must leave no mark on later ones
        for r, row in enumerate(self.master.rows):
            if isinstance(row, Cut):
                idle = 0 if self.master.dual[r] > 0 else self._idle.get(row, 0) + 1
                if idle >= self.patience:
                    drop.append(r)
                else:
                    still[row] = idle
        self._idle = still
        if drop:
            self.master.delete_cuts(drop)
