"""Periodic motions of systems with contacts: shooting, multipliers, branches and their bifurcations."""
