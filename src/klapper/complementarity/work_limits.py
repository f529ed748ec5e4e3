"""How much work each method gets on contacts with friction before the next one has its turn.

They are shared by the choice of solvers (``dispatch``) and the compiled call that comes before it.
"""

STEPPED_ROWS = 120  # up to here Newton steps with dense matrices cost no more than sweeps
PIVOTED_ROWS = 40  # of contacts in the plane, up to which pivoting finds the answer to round-off
SWEPT_ENTRIES = 2_000_000  # of W in so many sweeps that they take no longer than the interior-point method
LEAST_SWEEPS, MOST_SWEEPS = 300, 50_000
WARM = 1e-5  # residual up to which a point is a better start than the guess: others have other contact states
