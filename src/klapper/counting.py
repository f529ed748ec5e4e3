"""Numbers of things in words: 1 contact, 2 contacts."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with the noun in its singular or plural, ``many`` where that is not ``one`` and an s.

    >>> counted(1, "pivot"), counted(0, "branch", "branches")
    ('1 pivot', '0 branches')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"
