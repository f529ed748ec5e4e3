"""The gallery: runnable examples with parameters, numbers, checks and figures; the manual and the tests.

``examples()`` lists them, ``find(name)`` returns one, ``find(name).run(weight=50.0)`` computes it. A new
example is one file in this folder; see :mod:`klapper.gallery.example`.
"""

from klapper.gallery.catalogue import UnknownExample, examples, find

__all__ = ["UnknownExample", "examples", "find"]
