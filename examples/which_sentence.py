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
# Three reviews that the model has not seen. The colour behind a sentence reaches as far as the
# probability that it is the complaint.

unseen = [
    ["It was a present for my brother", "We use the radio in the kitchen",
     "After a day it stopped working", "The colour is darker than the old one"],
    ["My sister has the same chair", "It came with a second cushion",
     "I like to sit in it every day"],
    ["The kettle came in a plain box", "It was broken when I opened it", "I want a refund",
     "The old one was smaller"],
]  # fmt: skip
figure, axes = plt.subplots(
    3, 1, figsize=(6, 6), height_ratios=[len(said) for said in unseen], layout="constrained"
)
for ax, said in zip(axes, unseen):
    rows = words.transform(said)
    whole = model.predict_proba(Bags(rows, [0, len(said)]))[0, 1]
    chances = model.predict_proba(rows)[:, 1]
    ax.barh(range(len(said)), chances, height=0.8, color="#e8743b", alpha=0.55)
    for place, sentence in enumerate(said):
        ax.text(0.02, place, sentence, va="center")
    ax.set(xlim=(0, 1), xticks=[], yticks=[], ylim=(len(said) - 0.5, -0.5))
    ax.set_title(f"a complaint: {whole:.0%}", loc="left", color="#b9531f")
    ax.spines[:].set_visible(False)
plt.show()
