"""What is said when a study cannot be described or run."""


class StudyError(ValueError):
    """A study that is badly described, or cannot go on; the text says what was given and what is allowed.

    >>> from klapper.studies import study
    >>> study("bouncing-ball", over={"restitution": [0.5, 0.6]}, outputs=[], store="map")
    Traceback (most recent call last):
        ...
    klapper.studies.errors.StudyError: the study has no outputs: name at least one number of the result.
    """
