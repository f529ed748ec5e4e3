"""Groups of arrays that compiled functions hand on by reference.

A named tuple is handed on by value: with dozens of arrays that costs more than the step, at run time and, above all,
when it is compiled. Each group is described where it belongs, as a named tuple; here it gets a constructor for compiled
code. Only compiled code makes and sees these.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.experimental import structref


class _Group(types.StructRef):
    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


@structref.register
class ModelType(_Group):
    pass


@structref.register
class ContactsType(_Group):
    pass


@structref.register
class RoomType(_Group):
    pass


@structref.register
class JointsType(_Group):
    pass


@structref.register
class InverseType(_Group):
    pass


@structref.register
class StateType(_Group):
    pass


@structref.register
class KeptType(_Group):
    pass


@structref.register
class ContactingType(_Group):
    pass


def constructor(described: Any, kind: Any) -> Any:
    """What compiled code calls to make the group that a named tuple describes."""
    fields = {"_fields": described._fields}  # what machine code on disk depends on
    made = type(described.__name__ + "Reference", (structref.StructRefProxy,), fields)
    structref.define_constructor(made, kind, described._fields)
    return made
