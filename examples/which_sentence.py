"""
Which sentence made the review a complaint?
===========================================

Reviews are marked as complaints, sentences are not. With words as sparse features, a review is a
bag of sentences, and logistic regression under the rule "one is enough" points at the sentence.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from mixedbag import Bags
from mixedbag.classics import MILogisticRegression

rng = np.random.default_rng(3)
things = ["lamp", "kettle", "chair", "radio", "clock", "blanket"]
harmless = [
    "I bought the {} for my sister", "The {} looks as in the picture", "It came in a plain box",
    "We use the {} every day", "The {} is a little darker", "My neighbour has one too",
    "The {} is smaller than the old one", "It was a present",
]  # fmt: skip
complaints = [
    "The {} broke after a week", "The {} never worked", "Nobody answered when I asked for a refund",
    "The {} arrived broken", "I want my money back", "It stopped working after a day",
]  # fmt: skip


def review(bad):
    thing = rng.choice(things)
    said = [line.format(thing) for line in rng.choice(harmless, rng.integers(3, 6), replace=False)]
    return [*said, str(rng.choice(complaints)).format(thing)] if bad else said


marked = np.arange(120) % 2
reviews = [list(rng.permutation(review(bad))) for bad in marked]
sentences = [sentence for one in reviews for sentence in one]
words = TfidfVectorizer(ngram_range=(1, 2)).fit(sentences)
bags = Bags(words.transform(sentences), np.cumsum([0, *map(len, reviews)]))
model = MILogisticRegression(C=30).fit(bags, marked)

# %%
# A review that the model has not seen. Its longest bar is the reason.

unseen = [
    "It was a present for my brother", "We use the radio in the kitchen",
    "After a day it stopped working", "The colour is darker than the old one",
]  # fmt: skip
found = model.predict_proba(Bags(words.transform(unseen), [0, len(unseen)]))[0, 1]
chances = model.predict_proba(words.transform(unseen))[:, 1]
print(f"a complaint with probability {found:.2f}")
figure, ax = plt.subplots(figsize=(7, 2.4))
ax.barh(
    unseen[::-1], chances[::-1], color=["#e8743b" if c > 0.5 else "#c3cad6" for c in chances[::-1]]
)
ax.set(xlim=(0, 1), xlabel="probability that this sentence is the complaint")
plt.show()
