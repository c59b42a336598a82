"""Time plain autoregressive HMMs of other libraries; runs in their own interpreter.

Prints a JSON object of seconds for one EM iteration.
"""

import json
import sys
import time
import types

import numpy as np

N_STATES, ORDER, REPEAT = 10, 3, 5


def dynamax(series):
    import jax
    import jax.numpy as jnp
    from dynamax.hidden_markov_model import LinearAutoregressiveHMM

    jax.config.update("jax_enable_x64", True)
    model = LinearAutoregressiveHMM(N_STATES, series.shape[2], num_lags=ORDER)
    params, props = model.initialize(jax.random.PRNGKey(0), method="prior")
    emissions = jnp.asarray(series)
    inputs = jnp.stack([model.compute_inputs(x) for x in emissions])

    @jax.jit
    def iteration(params, m_step_state):
        stats, _ = jax.vmap(lambda x, u: model.e_step(params, x, u))(emissions, inputs)
        return model.m_step(params, props, stats, m_step_state)

    return timed(
        lambda: jax.block_until_ready(
            iteration(params, model.initialize_m_step_state(params, props))
        )
    )


def ssm(series):
    restore_autograd_misc()
    import ssm as library

    model = library.HMM(
        N_STATES, series.shape[2], observations="autoregressive", observation_kwargs={"lags": ORDER}
    )
    data = list(series)
    model.initialize(data)

    def fit(n_iterations):
        model.fit(data, method="em", num_em_iters=n_iterations, initialize=False)

    # a fit also evaluates the likelihood before it starts, so take the difference of two lengths
    short, long = timed(lambda: fit(1), 3), timed(lambda: fit(3), 3)
    return [(b - a) / 2 for a, b in zip(short, long)]


def restore_autograd_misc():
    """ssm 0.0.1 imports ``logsumexp`` from a module that autograd has since dropped."""
    import autograd.scipy
    import autograd.scipy.special

    module = types.ModuleType("autograd.scipy.misc")
    module.logsumexp = autograd.scipy.special.logsumexp
    sys.modules["autograd.scipy.misc"] = autograd.scipy.misc = module


def timed(call, repeat=REPEAT):
    """Fastest run by the clock, and by the processor."""
    call()
    runs = []
    for _ in range(repeat):
        clock_start, processor_start = time.perf_counter(), time.process_time()
        call()
        runs.append((time.perf_counter() - clock_start, time.process_time() - processor_start))
    return [min(column) for column in zip(*runs)]


if __name__ == "__main__":
    data = np.load(sys.argv[1])
    found = {}
    for rival in (dynamax, ssm):
        try:
            found[rival.__name__] = rival(data)
        except ImportError:
            continue
    print(json.dumps(found))
