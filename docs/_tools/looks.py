"""How the pictures of the gallery look."""

COLOURS = ["#3564c7", "#e8743b", "#2a9d78", "#9b5fc0", "#d1495b", "#7a7f87"]


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
            "font.size": 10,
        }
    )
