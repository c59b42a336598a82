"""Show the figure of an example, or save it when a file name is given."""

import sys

import matplotlib.pyplot as plt


def finish(figure):
    figure.tight_layout()
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=120)
    else:
        plt.show()
