"""What is said when a study cannot be described or run."""


class StudyError(ValueError):
    """A study that is badly described, or cannot go on; the text says what was given and what is allowed."""
