"""A transformer over the instances of a bag, pooled by attention."""

from mixedbag._parameters import between, whole
from mixedbag.deep._base import NetworkClassifier

__all__ = ["TransformerClassifier"]


class TransformerClassifier(NetworkClassifier):
    """Instances that see each other before they are pooled: torchmil's TransformerABMIL.

    As `AttentionClassifier`, with transformer layers in between: the vector of an instance takes in
    something of the others of its bag, as much as they concern it (self-attention). Suits bags in
    which it matters what comes together; wants many bags, and time.

    Parameters
    ----------
    hidden : int, default=64
        Units of the first layer.
    attention_size : int, default=32
        Units of the network that gives attention.
    n_layers, n_heads : int, default=1 and 4
        Transformer layers, and in how many ways each looks.
    dropout : float, default=0.0
        Share of the units left out at random in each step.
    alpha : float, default=1e-4
        Weight decay.
    learning_rate : float, default=1e-3
        Of the steps (AdamW).
    batch_size : int, default=32
        Bags in a step.
    max_epochs : int, default=200
        Most passes over the bags.
    patience : int, default=20
        Passes without a lower loss on held-out bags after which it stops.
    held_out : float, default=0.2
        Share of the bags of either class that only judge at first; once they have told the number
        of passes, all bags are learned from. With fewer than ten of a class, or 0, all do both.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to compute; "auto" takes a GPU where there is one.
    random_state : int, RandomState or None
        Held-out bags, first weights, the order of bags, and what dropout leaves out.

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
    AttentionClassifier : Without the layers in between: quicker, and content with fewer bags.
    mixedbag.classics.EdgeGraphSVC : How instances relate, for few bags.

    Notes
    -----
    Needs the extra "torch". An instance is scored as a bag of one, which tells positive instances
    from others better than attention does; `attention` says how much each counts in its bag.

    Examples
    --------
    >>> from mixedbag.deep import TransformerClassifier
    >>> TransformerClassifier(n_heads=2)
    TransformerClassifier(n_heads=2)
    """

    _parameter_constraints = {
        "n_layers": [whole(1)],
        "n_heads": [whole(1)],
        "dropout": [between(0, 1, "left")],
    }

    def __init__(
        self,
        hidden=64,
        *,
        attention_size=32,
        n_layers=1,
        n_heads=4,
        dropout=0.0,
        alpha=1e-4,
        learning_rate=1e-3,
        batch_size=32,
        max_epochs=200,
        patience=20,
        held_out=0.2,
        device="auto",
        random_state=None,
    ):
        self.hidden = hidden
        self.attention_size = attention_size
        self.n_layers = n_layers
        self.n_heads = n_heads
        self.dropout = dropout
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.held_out = held_out
        self.device = device
        self.random_state = random_state

    def _network(self, torch, n_features):
        from torchmil.models import TransformerABMIL

        layer = torch.nn.Sequential(torch.nn.Linear(n_features, self.hidden), torch.nn.ReLU())
        return TransformerABMIL(
            in_shape=(n_features,),
            pool_att_dim=self.attention_size,
            feat_ext=layer,
            transf_att_dim=self.n_heads * max(1, self.hidden // self.n_heads),
            transf_n_layers=self.n_layers,
            transf_n_heads=self.n_heads,
            transf_dropout=self.dropout,
        )
