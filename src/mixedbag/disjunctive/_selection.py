"""Features let in a few at a time, those of best price first (thesis Algorithm 7.2)."""

from dataclasses import dataclass

from mixedbag._parameters import number, whole

SELECTION_PARAMETERS = {
    "fs_init": [whole(0)],
    "fs_min_iter": [whole(0)],
    "fs_add_tol": [number()],
}


@dataclass(frozen=True)
class FeatureSelection:
    """When to let which features in.

    Parameters
    ----------
    add : int
        Features a round (the thesis's ``fs_num_add``).
    tol : float
        The relative gain below which selection ends.
    min_iter : int
        Rounds before it may.
    add_tol : float
        A feature may enter if its score, Σ_i u_i Y_i h_k(x_i) − 1 (eq. 7.40), is above this.
    """

    add: int = 2
    tol: float = 1e-4
    min_iter: int = 0
    add_tol: float = 1e-6

    @classmethod
    def of(cls, learner):
        """As a learner's parameters say."""
        return cls(
            learner.features_per_round,
            learner.selection_tol,
            learner.fs_min_iter,
            learner.fs_add_tol,
        )

    def run(self, master, solve, rounds):
        """Alternate `solve()`, which settles the master with its new features, and pricing.

        (The box takes the best feature already in; it must be the best one not yet in.)
        """
        before = float("inf")
        for k, _ in enumerate(rounds, start=1):
            solve()
            settled = before - master.value < self.tol * before and len(master.active)
            if settled and k >= self.min_iter:
                return
            before = master.value
            if not master.price_in(self.add, self.add_tol):
                return
