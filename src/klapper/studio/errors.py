"""What is said when the studio cannot do what was asked."""


class StudioError(ValueError):
    """One sentence for the reader; ``status`` is that of HTTP."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
