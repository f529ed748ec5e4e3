"""Tools of the repository that are no part of the package: the documentation site and its pictures."""
