"""How the gallery looks: the order of its questions, and the style of its pictures."""

COLOURS = ["#3564c7", "#e8743b", "#2a9d78", "#9b5fc0", "#d1495b", "#7a7f87"]

# Questions in the order in which people have them; one that is not named comes last.
ORDER = [
    "which_shape", "which_tile", "which_sentence", "which_digit", "when_did_it_happen",
    "who_said_yes", "from_totals_to_values", "which_rule", "what_a_leak_looks_like",
    "why_spread_labels_overfit", "how_good_can_it_be", "reading_certificates",
    "larger_than_memory", "on_a_cluster", "your_own_learner",
]  # fmt: skip


class InOrder:
    """What sphinx-gallery sorts the files of the gallery by."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, filename):
        name = filename.removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def for_the_gallery(gallery_conf, name):
    """Called by sphinx-gallery before every example."""
    import matplotlib
    from cycler import cycler

    matplotlib.rcParams.update(
        {
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "axes.prop_cycle": cycler(color=COLOURS),
            "legend.frameon": False,
            "font.size": 12,  # read on a phone, too
        }
    )
