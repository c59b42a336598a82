"""What an adversary could do to a network's answers by moving instances a little.

A step of length ε changes the answer about an instance by at most, to second order in ε and as a
Kullback–Leibler divergence,

    ½ ε² max_{‖r‖=1} rᵀ J_i M_i J_iᵀ r,    J_i = ∂z_i/∂x_i,

where M is the Fisher information of the answer by its scores z: p(1 − p) of two classes,
diag(p) − ppᵀ of more. Virtual adversarial training looks for the worst r by steps of a power
method; of two classes it is the gradient of the one score, and J M Jᵀ has no other direction, so
that nothing need be looked for. Of more, all directions are added up, not the worst alone.

With one hidden layer of sigmoids of slope s_i, J_i = W (s_i ∘ V), so that all comes from WᵀW.
"""

import numpy as np


def sharpness(head, active, z, hidden, output, weight):
    """Σ_i w_i tr(J_i M_i J_iᵀ) and its derivatives.

    Parameters
    ----------
    head : object
        Tells the information M of its scores: ``head.information(z, output)``.
    active, z : arrays of shape (n_instances, n_hidden) and (n_instances, n_outputs)
    hidden, output : arrays
        Weights W and V.
    weight : array of shape (n_instances,)

    Returns
    -------
    value : float
    by_z, by_input : arrays
        By the scores, through M alone, and by the input of the hidden units.
    by_hidden, by_output : arrays
    """
    share, centre, through = head.information(z, output)
    share = share * weight[:, None]
    slope = active * (1.0 - active)
    gram, by_gram = hidden.T @ hidden, np.zeros((hidden.shape[1],) * 2)
    squares, by_slope, by_output = np.empty_like(z), 0.0, np.empty_like(output)
    for k in range(z.shape[1]):
        away = output[:, k] - centre
        part = slope * away
        pulled = part @ gram
        squares[:, k] = np.einsum("ij,ij->i", part, pulled)
        by_part = 2.0 * share[:, [k]] * pulled
        by_slope = by_slope + by_part * away
        by_output[:, k] = np.einsum("ij,ij->j", by_part, slope)
        by_gram += part.T @ (share[:, [k]] * part)
    value = float(np.sum(share * squares))
    by_input = by_slope * slope * (1.0 - 2.0 * active)
    by_z = through(squares * weight[:, None])
    return value, by_z, by_input, 2.0 * hidden @ by_gram, by_output
