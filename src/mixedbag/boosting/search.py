"""How far to go along each of a few candidate directions, all at once.

`follow(lengths)` gives the loss and its two derivatives along every direction (rows (C, C′, C″)).
"""

import numpy as np

MAX_TRIALS = 40
FEW_TRIALS = 3  # once some direction falls, others get only this many chances
TOLERANCE = 1e-10
ROUNDING = 1e-14


def exact_lengths(follow, lengths, longest):
    """Lengths where the loss stops falling, by Newton's method inside a bracket; and the losses.

    The loss along a direction need not be convex, so the best length seen counts.
    """
    lengths = np.minimum(lengths, longest)
    low, high = np.zeros_like(lengths), np.full_like(lengths, longest)
    best, least = np.zeros_like(lengths), np.full_like(lengths, np.inf)
    done = np.zeros(len(lengths), dtype=bool)
    for _ in range(MAX_TRIALS):
        loss, slope, curve = follow(lengths).T
        better = loss <= least + ROUNDING * np.abs(loss)  # of equal losses, the later and closer
        best, least = np.where(better, lengths, best), np.where(better, loss, least)
        low = np.where(slope < 0, lengths, low)
        high = np.where(slope < 0, high, lengths)
        newton = lengths - np.divide(slope, curve, out=np.full_like(slope, np.inf), where=curve > 0)
        # Outside the bracket: twice as far while no end is in sight, else its middle.
        open_end = (slope < 0) & (high == longest)
        other = np.where(open_end, np.minimum(2 * lengths, longest), (low + high) / 2)
        trial = np.where((newton > low) & (newton < high), newton, other)
        # Next to the minimum, rounding decides the sign of the slope: trust the size of the step.
        done |= np.minimum(abs(newton - lengths), abs(trial - lengths)) <= TOLERANCE * lengths
        if done.all():
            break
        lengths = np.where(done, lengths, trial)
    return best, least


def falling_lengths(follow, lengths, loss):
    """The given lengths, halved until the loss is below `loss`; and the losses.

    Where it never falls the length is zero.
    """
    lengths = lengths.copy()
    for trial in range(MAX_TRIALS):
        found = follow(lengths)[:, 0]
        climbs = ~(found < loss)
        if not climbs.any() or (trial >= FEW_TRIALS and not climbs.all()):
            break
        lengths[climbs] /= 2
    return np.where(climbs, 0.0, lengths), np.where(climbs, loss, found)
