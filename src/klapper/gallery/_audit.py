"""How far a solved complementarity problem can be trusted, in plain words for an example's audit."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.complementarity import Solution, Uniqueness
from klapper.counting import counted


def audit(solution: "Solution[Any]", answer: "Uniqueness") -> dict[str, Any]:
    """Solver, residuals and uniqueness of one solution."""
    return {
        "solver": f"{solution.solver}, {counted(solution.iterations, 'iteration')}",
        "residuals": {name: value + 0.0 for name, value in solution.residuals.as_dict().items()},
        "uniqueness": in_one_line(answer),
    }


def in_one_line(answer: "Uniqueness") -> str:
    """The report of :func:`klapper.complementarity.uniqueness` without line breaks."""
    lines = [" ".join(line.split()) for line in str(answer).splitlines()]
    return " ".join(filter(None, [" ".join(lines[:2]), "; ".join(lines[2:])]))
