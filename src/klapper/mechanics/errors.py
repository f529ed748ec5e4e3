"""What is said when a model cannot be built."""


class InvalidModel(ValueError):
    """The model is badly posed; the text names the part, what was given and what is allowed."""
