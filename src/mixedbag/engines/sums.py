"""What blocks return when they return more than one number: records that add up field by field."""


class Sums:
    """Base of dataclasses whose fields add up."""

    def __add__(self, other):
        return type(self)(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))


class Peak(float):
    """A number of which sums keep the largest."""

    def __add__(self, other):
        return Peak(max(self, other))
