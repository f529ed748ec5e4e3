"""Functions that kernels call by their addresses: those of a form, and the parts of a step that few models need.

    call.force(model.call, model.index, model.data, t, q, v, out)

Kernels are so compiled once for all models, and a part of a step only for models that need it. The addresses are those
of the functions themselves, not of wrappers for C. They stand in ``Model.call`` at the places given here, 0 where there
is no function: to call that is an error.
"""

from __future__ import annotations

import inspect
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing import signature
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

FORM = (
    *(
        "bring",
        "mass",
        "force",
        "stiff",
        "tangents",
        "advance",
        "near",
        "gaps",
        "directions",
        "laws",
        "curvature",
    ),
    *("residuals", "constraint_directions", "constraint_curvature", "potential", "powers", "damping"),
)
"""Functions of a :class:`klapper.mechanics.compiled_form.CompiledForm`."""
PARTS = (
    *("step", "lasting", "difference_curvatures", "difference_tangents", "difference_powers", "solve_smooth"),
    *("solve_rough", "solve_narrow", "solve_elsewhere", "narrow", "project", "constant_responses"),
    *("given_joints", "prepare_joints", "hold_joints", "hold_response", "joint_impulses"),
)
"""Parts of a step, see :mod:`klapper.schemes.form_kernels.parts`."""
PLACES = {name: place for place, name in enumerate((*FORM, *PARTS))}


def _called(name: str) -> Any:
    """What compiled code calls: the function of this name, from all addresses (a,) and its own arguments."""

    def typed(typing: Any, addresses: Any, *given: Any) -> Any:
        from klapper.schemes.form_kernels.parts import signature_of

        wanted = signature_of(name)

        def build(context: Any, builder: Any, own: Any, arguments: Any) -> Any:
            array = make_array(own.args[0])(context, builder, arguments[0])
            place = builder.gep(array.data, [ir.Constant(ir.IntType(64), PLACES[name])])
            kind = context.call_conv.get_function_type(wanted.return_type, wanted.args)
            address = builder.load(place)
            missing = builder.icmp_unsigned("==", address, ir.Constant(address.type, 0))
            with builder.if_then(missing, likely=False):
                context.call_conv.return_user_exc(
                    builder, RuntimeError, (f"the function {name!r} was not compiled",)
                )
            function = builder.inttoptr(address, kind.as_pointer())
            status, found = context.call_conv.call_function(
                builder, function, wanted.return_type, wanted.args, arguments[1:]
            )
            with builder.if_then(status.is_error, likely=False):
                context.call_conv.return_status_propagate(builder, status)
            return found

        typed.__signature__ = _positional(len(given))  # type: ignore[attr-defined]
        return signature(wanted.return_type, types.int64[::1], *wanted.args), build

    typed.__name__ = typed.__qualname__ = name
    made: Any = intrinsic(typed)
    return made


def _positional(count: int) -> inspect.Signature:
    names = ("typing", "addresses", *(f"given_{i}" for i in range(count)))
    return inspect.Signature(
        [inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in names]
    )


bring, mass, force, stiff, tangents, advance, near, gaps, directions, laws, curvature = map(
    _called, FORM[:11]
)
residuals, constraint_directions, constraint_curvature, potential, powers, damping = map(_called, FORM[11:])
step, lasting, difference_curvatures, difference_tangents, difference_powers = map(_called, PARTS[:5])
solve_smooth, solve_rough, solve_narrow, solve_elsewhere, narrow, project = map(_called, PARTS[5:11])
constant_responses, given_joints, prepare_joints, hold_joints, hold_response, joint_impulses = map(
    _called, PARTS[11:]
)
