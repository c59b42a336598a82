"""When in a recording did the activity happen?

Every bag is a stretch of motion, labelled by whether the activity takes much of it. The learner
finds the samples where it happens.
"""

from _picture import finish
from sklearn.metrics import roc_auc_score

from mixedbag.datasets import make_sequences
from mixedbag.inspection import SequenceDisplay
from mixedbag.sequence import ARHMMClassifier

data = make_sequences(n_bags=40, random_state=0)
model = ARHMMClassifier(n_states=5, order=2, random_state=0).fit(data.bags, data.y)
scores = model.decision_function_instances(data.bags)
print(f"AUC of the samples: {roc_auc_score(data.instance_labels, scores):.2f}")

display = SequenceDisplay.from_estimator(model, data.bags, int(data.y.argmax()))
finish(display.figure_)
