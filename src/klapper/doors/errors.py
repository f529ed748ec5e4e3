"""Why a file is not read."""


class Unreadable(ValueError):
    """A file that is damaged, too large or not of the expected form: the reason, without the name of the file.

    >>> from klapper.doors.toml import parse_toml
    >>> parse_toml("a." * 50 + "a = 1")
    Traceback (most recent call last):
        ...
    klapper.doors.errors.Unreadable: line 1: a key has more than 20 parts
    """
