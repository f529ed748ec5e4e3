"""Contact at large strains: what it costs inside klapper, and other programs beside it."""
