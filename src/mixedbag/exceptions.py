"""What went wrong, by whose hand: errors that a caller may want to tell apart."""


class InputError(ValueError):
    """What the user gave cannot be used; the message says what it is and where.

    Any other `ValueError` or `TypeError` that leaves the command line is a defect of mixedbag.
    """
