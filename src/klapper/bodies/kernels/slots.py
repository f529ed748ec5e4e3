"""What the tables of rigid bodies hold and where: numbers of the entries that begin their part of ``index``.

An entry is a count, or a place in ``index`` or ``data`` where a table begins. The ground counts as the last body.
Places (3,) and directions (3,) are in the axes of their body; signals are named by the place of their values in
``data``, and a part without a signal names a place where nothing but zeros stand.
"""

from klapper.mechanics.compiled_form import Tables

(
    BODY,  # index: of every body the first position, the first velocity and the number of velocities
    BODIES,  # how many there are, without the ground
    MASS,  # data: diagonal of the mass matrix (nv,)
    WEIGHT,  # data: generalised force of gravity (nv,)
    GRAVITY,  # data: mass times gravity (3,) of every body
    INERTIA,  # data: principal moments (3,) of every body
    BALL,  # index: body of every ball
    BALL_NUMBERS,  # data: place (3,) and radius
    PLANE,  # index: body, signal of the motion, signal of the sliding
    PLANE_NUMBERS,  # data: point (3,) and normal (3,)
    LISTED,  # index: ball, other, whether the other is a half-space
    LISTED_COUNT,
    LAW,  # index: friction law of every listed contact, then two of every group: between balls, with half-spaces
    LAW_NUMBERS,  # data: restitution, μ₂/μ₁
    GROUP,  # index: first number, balls, half-spaces, place of the numbers of the balls, and of the half-spaces
    GROUP_NUMBERS,  # data: margin
    GROUP_COUNT,
    JOINT,  # index: kind, bodies a and b, whether the direction turns with b, signals at a and b
    JOINT_NUMBERS,  # data: JOINT_WIDTH numbers, as POINT_ROW … say
    JOINT_COUNT,
    SPRING,  # index: bodies a and b, signals at a and b, whether one of the points is moved
    SPRING_NUMBERS,  # data: places of a and b, stiffness, length, damping
    SPRING_COUNT,
    TORSION,  # index: bodies a and b
    TORSION_NUMBERS,  # data: axis (3,), reference (4,), stiffness, rest angle, damping
    TORSION_COUNT,
    LOAD,  # index: body, signal of the force, signal of the moment
    LOAD_NUMBERS,  # data: place (3,)
    LOAD_COUNT,
    NOTHING,  # data: zeros, as of a signal that is not there
) = range(Tables.HEADER, Tables.HEADER + 30)

BODY_SIZE, BALL_WIDTH, PLANE_SIZE, PLANE_WIDTH = 3, 4, 3, 6
LISTED_SIZE, LAW_WIDTH, GROUP_SIZE = 3, 2, 5
JOINT_SIZE, JOINT_WIDTH = 6, 9
SPRING_SIZE, SPRING_WIDTH, TORSION_SIZE, TORSION_WIDTH, LOAD_SIZE, LOAD_WIDTH = 5, 9, 2, 10, 3, 3
"""Entries of one part in ``index`` (…_SIZE) and in ``data`` (…_WIDTH)."""

POINT_ROW, DISTANCE_ROW, AXIS_ROW, ANGLE_ROW = 0, 1, 2, 3
"""Kinds of joint rows; numbers: places a, b and direction | places a, b and length | axes of a and b | axis and
reference, with the given angle as the signal at a."""
