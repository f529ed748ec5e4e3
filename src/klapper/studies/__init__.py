"""Parameter studies: thousands of runs on one machine or a cluster, kept in a store, resumed by themselves."""

from klapper.studies.design import Design, combined, grid, latin_hypercube, listed, sobol
from klapper.studies.errors import StudyError
from klapper.studies.refine import Refine
from klapper.studies.sensitivity import elasticities
from klapper.studies.study import Study, study

__all__ = [
    "Design",
    "Refine",
    "Study",
    "StudyError",
    "combined",
    "elasticities",
    "grid",
    "latin_hypercube",
    "listed",
    "sobol",
    "study",
]
