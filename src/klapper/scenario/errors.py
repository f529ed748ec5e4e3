"""What is said when a scenario file cannot be used."""


class ScenarioError(ValueError):
    """One sentence that names the file, the line and the key, what was given and what is allowed.

    >>> from klapper.scenario import read_scenario
    >>> read_scenario("nowhere.toml")
    Traceback (most recent call last):
        ...
    klapper.scenario.errors.ScenarioError: nowhere.toml cannot be read: No such file or directory.
    """
