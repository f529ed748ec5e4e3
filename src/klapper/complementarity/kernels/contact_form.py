"""A contact problem's matrix and laws in two flat arrays, made once, from which compiled calls read.

They hold what does not depend on the free velocities: the blocks of the Delassus matrix (``contact_blocks``), the
uncoupled parts, the laws of friction. Two arrays go from Python into a compiled function in a fraction of the time
that some twenty take.
"""

from __future__ import annotations

import numpy as np

from klapper.complementarity.kernels.contact_blocks import (
    CONSTRAINT,
    CONTACT,
    PATCH,
    ContactBlocks,
    columns_from_dense,
    columns_from_sparse,
    local_data,
)
from klapper.machine_code import njit

BLOCKS, ROWS, PAIRS, SHARES, POLYGON, SWEPT, PARTS, WIDTH, HEAD = range(9)
"""Entries of ``places``: blocks k, rows n, stored pairs of blocks, shares of friction, corners of the polygon, whether
sweeps can treat the diagonal, uncoupled parts, tangential rows of a contact. From HEAD on follow the lists ``rows``
(k, 3), ``kind``, ``part`` and ``alone`` (k,), whether nothing couples a block, ``start`` (k + 1,), ``neighbour``
(pairs,), ``share_start`` (k + 1,) and ``share_of`` (shares,). ``numbers`` holds ``friction``, ``limit`` (k,),
``share``, ``own`` (k, 9), ``schur``, ``tangent`` (k, 4), ``mobility`` (k, 2) and ``push`` (pairs, 9) of
:class:`ContactBlocks`."""


@njit(cache=True)
def form_of_dense(
    matrix: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
    bilateral: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    limit: np.ndarray,
    polygon: int,
) -> tuple[np.ndarray, np.ndarray]:
    """``places`` and ``numbers`` of a dense Delassus matrix; pairs of contacts without any entry are left out.

    ``normal`` (m,), ``tangential`` (s, 0 to 2), ``bilateral`` (k,) number the rows; μ (s, m) in compressed rows.
    """
    partner = partners(normal.size, tangential.shape[0], share_start, share_of)
    rows, kind = grouped(normal, tangential, bilateral, partner)
    start, neighbour, push = columns_from_dense(matrix, rows)
    return packed(
        rows, kind, start, neighbour, push, partner, share_start, share_of, share, limit, polygon,
        matrix.shape[0], tangential.shape[1],
    )  # fmt: skip


@njit(cache=True)
def form_of_sparse(
    matrix_start: np.ndarray,
    matrix_column: np.ndarray,
    matrix_value: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
    bilateral: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    limit: np.ndarray,
    polygon: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The same of a Delassus matrix in compressed rows."""
    partner = partners(normal.size, tangential.shape[0], share_start, share_of)
    rows, kind = grouped(normal, tangential, bilateral, partner)
    start, neighbour, push = columns_from_sparse(matrix_start, matrix_column, matrix_value, rows)
    return packed(
        rows, kind, start, neighbour, push, partner, share_start, share_of, share, limit, polygon,
        matrix_start.size - 1, tangential.shape[1],
    )  # fmt: skip


@njit(cache=True)
def partners(contacts: int, patches: int, share_start: np.ndarray, share_of: np.ndarray) -> np.ndarray:
    """Number of the normal contact that shares a block with each friction patch (s,), −1 for none.

    It is the only one that presses the patch, and no earlier patch has it. Patches that nothing presses stay apart: no
    law couples them with a contact.
    """
    partner = np.full(patches, -1)
    taken = np.zeros(contacts, np.bool_)
    for i in range(patches):
        contact = share_of[share_start[i]] if share_start[i + 1] - share_start[i] == 1 else -1
        if contact >= 0 and not taken[contact]:
            partner[i] = contact
            taken[contact] = True
    return partner


@njit(cache=True)
def grouped(
    normal: np.ndarray, tangential: np.ndarray, bilateral: np.ndarray, partner: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (k, 3) of each block, −1 where there is none, and its kind: contacts, other patches, constraints."""
    contacts, alone = normal.size, 0
    for i in range(partner.size):
        alone += partner[i] < 0
    count = contacts + alone + bilateral.size
    rows, kind = np.full((count, 3), -1), np.full(count, CONSTRAINT, np.int8)
    for i in range(contacts):
        rows[i, 0], kind[i] = normal[i], CONTACT
    block = contacts
    for i in range(partner.size):
        place = partner[i]
        if place < 0:
            place = block
            kind[block] = PATCH
            block += 1
        for c in range(tangential.shape[1]):
            rows[place, 1 + c] = tangential[i, c]
    for i in range(bilateral.size):
        rows[block + i, 0] = bilateral[i]
    return rows, kind


@njit(cache=True)
def packed(
    rows: np.ndarray,
    kind: np.ndarray,
    start: np.ndarray,
    neighbour: np.ndarray,
    push: np.ndarray,
    partner: np.ndarray,
    share_start: np.ndarray,
    share_of: np.ndarray,
    share: np.ndarray,
    limit: np.ndarray,
    polygon: int,
    size: int,
    width: int,
) -> tuple[np.ndarray, np.ndarray]:
    """``places`` and ``numbers`` from the blocks and the laws."""
    count = rows.shape[0]
    own, schur, tangent, mobility = local_data(start, neighbour, push)
    friction, given = np.zeros(count), np.zeros(count)
    first = np.zeros(count + 1, np.int64)
    several = 0
    for i in range(partner.size):
        if partner[i] >= 0:
            given[partner[i]] = limit[i]
            for k in range(share_start[i], share_start[i + 1]):
                friction[partner[i]] += share[k]
        else:
            several += share_start[i + 1] - share_start[i]
    of, shares = np.empty(several, np.int64), np.empty(several)
    block, filled = 0, 0
    while block < count and kind[block] == CONTACT:
        block += 1
    for i in range(partner.size):
        if partner[i] < 0:
            given[block] = limit[i]
            for k in range(share_start[i], share_start[i + 1]):
                of[filled], shares[filled] = share_of[k], share[k]
                filled += 1
            block += 1
            first[block] = filled
    for i in range(block, count):
        first[i + 1] = filled
    softest = mobility.max() if count else 0.0
    swept = True
    for i in range(count):
        swept = swept and (kind[i] == PATCH or own[i, 0] > 0.0)
        for c in range(2):
            if mobility[i, c] == 0.0:
                mobility[i, c] = softest if softest > 0.0 else 1.0
    part, parts = uncoupled(start, neighbour, push, first, of)
    head = np.array([count, size, neighbour.size, several, polygon, swept, parts, width])
    members = np.zeros(parts, np.int64)
    for i in range(count):
        members[part[i]] += 1
    alone = np.empty(count, np.int64)
    for i in range(count):
        alone[i] = members[part[i]] == 1
    places = np.concatenate(
        (head, rows.ravel(), kind.astype(np.int64), part, alone, start, neighbour, first, of)
    )
    numbers = np.concatenate(
        (friction, given, shares, own.ravel(), schur.ravel(), tangent.ravel(), mobility.ravel(), push.ravel())
    )
    return places, numbers


@njit(cache=True)
def uncoupled(
    start: np.ndarray, neighbour: np.ndarray, push: np.ndarray, share_start: np.ndarray, share_of: np.ndarray
) -> tuple[np.ndarray, int]:
    """Number of the part (k,) of each block, and how many there are: neither W nor a law couples parts."""
    count = start.size - 1
    root = np.arange(count)
    for j in range(count):
        for k in range(start[j], start[j + 1]):
            i = neighbour[k]
            if i != j and np.any(push[k] != 0.0):
                _join(root, i, j)
        for k in range(share_start[j], share_start[j + 1]):
            _join(root, share_of[k], j)
    part = np.empty(count, np.int64)
    parts = 0
    for i in range(count):
        if root[i] == i:
            part[i] = parts
            parts += 1
        else:
            part[i] = part[_root(root, i)]
    return part, parts


@njit(cache=True)
def _root(root: np.ndarray, i: int) -> int:
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@njit(cache=True)
def _join(root: np.ndarray, i: int, j: int) -> None:
    """The smaller number stays the root, so that roots come before their members."""
    a, b = _root(root, i), _root(root, j)
    root[max(a, b)] = min(a, b)


@njit(cache=True)
def blocks_of(
    places: np.ndarray, numbers: np.ndarray, free_velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray, ContactBlocks]:
    """Rows (k, 3) and part (k,) of each block, and the blocks, with velocities b (n,) without forces."""
    count, pairs, shares = places[BLOCKS], places[PAIRS], places[SHARES]
    at = HEAD
    rows = places[at : at + 3 * count].reshape((count, 3))
    at += 3 * count
    kind = places[at : at + count].astype(np.int8)
    at += count
    part = places[at : at + count]
    at += 2 * count
    start = places[at : at + count + 1]
    at += count + 1
    neighbour = places[at : at + pairs]
    at += pairs
    share_start = places[at : at + count + 1]
    at += count + 1
    share_of = places[at : at + shares]
    friction, limit, share = (
        numbers[:count],
        numbers[count : 2 * count],
        numbers[2 * count : 2 * count + shares],
    )
    at = 2 * count + shares
    own = numbers[at : at + 9 * count].reshape((count, 9))
    at += 9 * count
    schur = numbers[at : at + 4 * count].reshape((count, 4))
    at += 4 * count
    tangent = numbers[at : at + 4 * count].reshape((count, 4))
    at += 4 * count
    mobility = numbers[at : at + 2 * count].reshape((count, 2))
    at += 2 * count
    push = numbers[at : at + 9 * pairs].reshape((pairs, 9))
    free = np.zeros(3 * count)
    for i in range(count):
        for c in range(3):
            if rows[i, c] >= 0:
                free[3 * i + c] = free_velocity[rows[i, c]]
    blocks = ContactBlocks(
        start, neighbour, push, own, schur, tangent, mobility, kind, friction, limit, share_start, share_of,
        share, free, places[POLYGON],
    )  # fmt: skip
    return rows, part, blocks
