"""Attention pooling: a network that learns which instances of a bag to look at."""

from mixedbag.deep._base import NetworkClassifier

__all__ = ["AttentionClassifier"]


class AttentionClassifier(NetworkClassifier):
    """Attention-based pooling (Ilse, Tomczak and Welling, 2018), as torchmil has it: ABMIL.

    Every instance becomes a vector h (one layer of rectified units). A second small network says
    how much it counts, and the bag is the average of its vectors by these shares::

        a_j = softmax_j( ⟨u, tanh(V h_j)⟩ ),   log-odds of the bag = ⟨w, Σ_j a_j h_j⟩ + c

    All weights minimise the logistic loss of bags by gradient steps on batches. Held-out bags tell
    after how many passes their loss is lowest; then all bags are learned from so long. Wants many
    bags.

    Parameters
    ----------
    hidden : int, default=64
        Units of the first layer.
    attention_size : int, default=32
        Units of the network that gives attention.
    gated : bool, default=False
        Whether a second layer opens and closes these units.
    alpha : float, default=1e-4
        Weight decay.
    learning_rate : float, default=1e-2
        Of the steps (AdamW).
    batch_size : int, default=32
        Bags in a step.
    max_epochs : int, default=200
        Most passes over the bags.
    patience : int, default=10
        Passes without a lower loss on held-out bags after which it stops.
    held_out : float, default=0.2
        Share of the bags of either class that only judge at first; once they have told the number
        of passes, all bags are learned from. With fewer than ten of a class, or 0, all do both.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to compute; "auto" takes a GPU where there is one.
    random_state : int, RandomState or None
        Held-out bags, first weights, and the order of bags.

    Attributes
    ----------
    state_ : dict of arrays
        The weights, by torch's names.
    held_out_loss_ : array
        The loss on held-out bags after each pass.
    n_iter_ : int
        Number of passes over all bags: where that loss was lowest.

    See Also
    --------
    TransformerClassifier : Instances see each other before they are pooled.
    mixedbag.embeddings.MeanNetworkClassifier : All instances count alike; needs no further package,
        and fewer bags.

    Notes
    -----
    Needs the extra "torch". An instance is scored as a bag of one, which tells positive instances
    from others better than attention does; `attention` says how much each counts in its bag.
    Attention looks at the whole bag: such a network can take the absence of something for a reason,
    and thereby break the rule *any*.

    Examples
    --------
    >>> from mixedbag.deep import AttentionClassifier
    >>> AttentionClassifier(hidden=16)
    AttentionClassifier(hidden=16)
    """

    _parameter_constraints = {"gated": ["boolean"]}

    def __init__(
        self,
        hidden=64,
        *,
        attention_size=32,
        gated=False,
        alpha=1e-4,
        learning_rate=1e-2,
        batch_size=32,
        max_epochs=200,
        patience=10,
        held_out=0.2,
        device="auto",
        random_state=None,
    ):
        self.hidden = hidden
        self.attention_size = attention_size
        self.gated = gated
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.held_out = held_out
        self.device = device
        self.random_state = random_state

    def _network(self, torch, n_features):
        from torchmil.models import ABMIL

        layer = torch.nn.Sequential(torch.nn.Linear(n_features, self.hidden), torch.nn.ReLU())
        return ABMIL(
            in_shape=(n_features,), att_dim=self.attention_size, gated=self.gated, feat_ext=layer
        )
