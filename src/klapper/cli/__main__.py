"""``python -m klapper.cli``."""

from klapper.cli.commands import main

main()
