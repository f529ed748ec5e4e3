"""Dynamics side by side: five models, stepped by klapper, Siconos, Exudyn and MuJoCo in their own processes."""
