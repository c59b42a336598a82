"""Totals in their own units: what makes penalties mean the same whatever totals are counted in.

A total is taken as ``n_c`` values of mean μ and spread σ,

    μ = Σ_c w_c y_c / Σ_c w_c n_c,    σ² = Σ_c w_c (y_c − μ n_c)² / Σ_c w_c n_c,

and learned as (y_c − μ n_c) / σ. Of bags of one instance these are mean and standard deviation.
"""

from typing import NamedTuple

import numpy as np


class Standard(NamedTuple):
    """Mean and spread of a value of one instance, as far as totals tell; a number an output."""

    mean: float | np.ndarray
    spread: float | np.ndarray

    @classmethod
    def of(cls, blocks):
        """From blocks of bags labelled with totals; totals without a spread keep their unit."""
        n_values = blocks.sum(_n_values)
        mean = blocks.sum(_amount) / n_values
        spread = np.sqrt(blocks.sum(_squares, mean) / n_values)
        return cls(mean, np.where(spread > 0, spread, 1.0)[()])

    def inside(self, block):
        """The block with standardised totals."""
        total = (block.target - np.multiply.outer(block.bags.sizes, self.mean)) / self.spread
        return block._replace(target=total)


def _amount(block):
    return block.weight @ block.target


def _n_values(block):
    return block.weight @ block.bags.sizes


def _squares(block, mean):
    return block.weight @ (block.target - np.multiply.outer(block.bags.sizes, mean)) ** 2
