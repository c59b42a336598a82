"""Which images made a bag of digits positive?

Bags hold a handful of handwritten digits; a bag is positive if one of them is a 9. No image is
labelled, yet the learner finds the nines.
"""

from _picture import finish
from sklearn.model_selection import train_test_split

from mixedbag.datasets import load_digits_bags
from mixedbag.inspection import WitnessDisplay
from mixedbag.margin import BagMarginSVC

data = load_digits_bags(random_state=0)
train, test, y_train, y_test = train_test_split(
    data.bags, data.y, stratify=data.y, test_size=0.3, random_state=0
)
model = BagMarginSVC(kernel="rbf").fit(train, y_train)
print(f"accuracy on unseen bags: {model.score(test, y_test):.2f}")

positive = int(y_test.argmax())
display = WitnessDisplay.from_estimator(model, test, positive, image_shape=(8, 8))
finish(display.figure_)
