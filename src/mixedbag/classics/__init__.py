"""The classics of multiple-instance learning, one file each."""

from mixedbag.classics.bayesian_citation_knn import BayesianCitationKNN
from mixedbag.classics.citation_knn import CitationKNN
from mixedbag.classics.dd_svm import DDSVM
from mixedbag.classics.dirichlet import DirichletMixtureClassifier
from mixedbag.classics.diverse_density import DiverseDensity
from mixedbag.classics.edge_graph import EdgeGraphSVC
from mixedbag.classics.elimination_rectangle import EliminationRectangle
from mixedbag.classics.emdd import EMDD
from mixedbag.classics.forest import MIForestClassifier
from mixedbag.classics.instance_average import InstanceAverageClassifier
from mixedbag.classics.logistic import MILogisticRegression
from mixedbag.classics.migraph import MIGraphSVC
from mixedbag.classics.miles import MILES
from mixedbag.classics.milis import MILIS
from mixedbag.classics.optimal_ball import OptimalBallClassifier
from mixedbag.classics.rectangle import AxisParallelRectangle
from mixedbag.classics.set_kernel import SetKernelSVC
from mixedbag.classics.tree import MITreeClassifier
from mixedbag.classics.two_level import TwoLevelClassifier

__all__ = [
    "DDSVM",
    "EMDD",
    "MILES",
    "MILIS",
    "AxisParallelRectangle",
    "BayesianCitationKNN",
    "CitationKNN",
    "DirichletMixtureClassifier",
    "DiverseDensity",
    "EdgeGraphSVC",
    "EliminationRectangle",
    "InstanceAverageClassifier",
    "MIForestClassifier",
    "MIGraphSVC",
    "MILogisticRegression",
    "MITreeClassifier",
    "OptimalBallClassifier",
    "SetKernelSVC",
    "TwoLevelClassifier",
]


def __dir__():
    return __all__
