"""What is said when a model cannot be built."""


class InvalidModel(ValueError):
    """The model is badly posed; the text names the part, what was given and what is allowed.

    >>> from klapper.mechanics import Contact
    >>> Contact("floor", normal=[1.0], restitution=1.5)
    Traceback (most recent call last):
    klapper.mechanics.errors.InvalidModel: contact 'floor': restitution is 1.5; allowed are numbers from 0 to 1.
    """
