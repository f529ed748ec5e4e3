"""What is said when a scenario file cannot be used."""


class ScenarioError(ValueError):
    """One sentence that names the file, the line and the key, what was given and what is allowed."""
