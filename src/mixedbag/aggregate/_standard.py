"""Totals in their own units: what makes penalties mean the same whatever totals are counted in.

A total is taken as ``n_c`` values of mean μ and spread σ,

    μ = Σ_c w_c y_c / Σ_c w_c n_c,    σ² = Σ_c w_c (y_c − μ n_c)² / Σ_c w_c n_c,

and learned as (y_c − μ n_c) / σ. Of bags of one instance these are mean and standard deviation.
"""

from typing import NamedTuple

import numpy as np


class Standard(NamedTuple):
    """Mean and spread of a value of one instance, as far as totals tell."""

    mean: float
    spread: float

    @classmethod
    def of(cls, blocks):
        """From blocks of bags labelled with totals; totals without a spread keep their unit."""
        amount, n_values = blocks.sum(_amounts)
        mean = amount / n_values
        squares = blocks.sum(_squares, mean)
        return cls(float(mean), float(np.sqrt(squares / n_values)) or 1.0)

    def inside(self, block):
        """The block with standardised totals."""
        total = (block.target - self.mean * block.bags.sizes) / self.spread
        return block._replace(target=total)


def _amounts(block):
    return np.array([block.weight @ block.target, block.weight @ block.bags.sizes])


def _squares(block, mean):
    return block.weight @ (block.target - mean * block.bags.sizes) ** 2
