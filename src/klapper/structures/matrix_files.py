"""Matrices and tables in the files of other programs; nothing in a file is ever executed.

    Matrix Market   .mtx, .mtx.gz beginning with %%MatrixMarket
    numpy, scipy    .npz of scipy.sparse.save_npz, or .npz/.npy of numpy
    CalculiX        .sti, .mas (*FREQUENCY, SOLVER=MATRIXSTORAGE): "row column value", from 1 on; .dof: "node.direction"
    Abaqus          *MATRIX OUTPUT, FORMAT=MATRIX INPUT: "node, dof, node, dof, value", supports marked by 1e36;
                    FORMAT=COORDINATE: "row column value"
    tables          text with commas or blanks; lines that begin with *, #, % and a line of titles are skipped

Of a symmetric matrix one triangle is enough. An error names the file and the line.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel

Dof = tuple[int, int]  # node, direction 1 … 6

FIXED_BY_ABAQUS = 1e35  # Abaqus marks supported coordinates by 1e36 on the diagonal of the stiffness
_EMPTY = 10  # rows per entry at most: supports and internal nodes leave few rows empty
_LARGEST_WHOLE = 2**31  # numbers of rows and nodes
_COMMENTS = ("*", "#", "%")


@dataclass(frozen=True, eq=False)
class MatrixFile:
    """``matrix`` (n, n), sparse and symmetric, and ``dofs``, node and direction of every row if the file tells them."""

    matrix: Any
    dofs: tuple[Dof, ...] | None = None


def read_matrix(path: Any, kind: str = "stiffness") -> MatrixFile:
    """A matrix from any of the formats above; ``kind`` chooses among several arrays of one .npz file."""
    file = _existing(path)
    if file.suffix in (".npz", ".npy"):
        return MatrixFile(_symmetric(_numpy(file, kind), file))
    if _first_line(file).lower().startswith("%%matrixmarket"):
        return MatrixFile(_symmetric(_market(file), file))
    table, lines = read_table(file, (3, 5))
    return _labelled(table, lines, file) if table.shape[1] == 5 else _numbered(table, lines, file)


def _market(file: Path) -> Any:
    """A real Matrix Market file (n, n): a coordinate list, or an array by columns."""
    words = _first_line(file).lower().split()
    if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise InvalidModel(f"{file.name} is not a valid Matrix Market file: its first line is damaged.")
    if words[3] not in ("real", "integer", "double") or words[4] not in (
        "general",
        "symmetric",
        "skew-symmetric",
    ):
        raise InvalidModel(f"{file.name} holds a {words[3]} {words[4]} matrix; expected a real one.")
    listed = words[2] == "coordinate"
    try:
        with _opened(file) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of no rows
            size = next((line for line in stream if line.strip() and not line.startswith("%")), "")
            n, columns, *more = (int(word) for word in size.split())
            values = np.loadtxt(stream, comments="%", ndmin=2)
    except (ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        raise InvalidModel(f"{file.name} is not a valid Matrix Market file: {error}.") from None
    mirrored = words[4] != "general"
    if n != columns or len(more) != listed or n < 1:
        raise InvalidModel(f"{file.name} holds an array of shape ({n}, {columns}); expected a matrix (n, n).")
    expected = more[0] if listed else n * (n + 1) // 2 if mirrored else n * n
    if values.shape != (expected, 3 if listed else 1):
        raise InvalidModel(
            f"{file.name} is not a valid Matrix Market file: it declares {expected} entries and has {len(values)} rows "
            f"of {values.shape[1]}; it was cut or changed."
        )
    if not listed:
        full = np.zeros((n, n))
        place = np.triu_indices(n) if mirrored else None
        if place is None:
            full = values[:, 0].reshape(n, n).T
        else:
            full[place[1], place[0]] = values[:, 0]
        return sparse.csr_array(full)
    _require_size(n, expected, file)
    numbers = _whole(
        values[:, :2], np.zeros(len(values), dtype=int), file, "a row or column number from 1 on", least=1
    )
    if numbers.max(initial=0) > n:
        raise InvalidModel(
            f"{file.name} is not a valid Matrix Market file: it names row or column {numbers.max()}, but it has {n}."
        )
    return sparse.csr_array((values[:, 2], (numbers[:, 0] - 1, numbers[:, 1] - 1)), shape=(n, n))


def _require_size(n: int, entries: int, file: Path) -> None:
    """Refuse a matrix (n, n) of which nearly all rows are empty: its size costs memory, and it is of no structure."""
    if n > _EMPTY * entries + 1000:
        raise InvalidModel(
            f"{file.name} has {entries} entries, but rows up to number {n}; at least one row in {_EMPTY} must have an "
            "entry: renumber them."
        )


def read_dofs(path: Any) -> tuple[Dof, ...]:
    """Node and direction of every row: "node.direction" (CalculiX .dof), or two columns."""
    file = _existing(path)
    dofs = []
    for number, line in _data_lines(file):
        text = line.replace(",", " ").replace(".", " ").split()
        try:
            node, direction = (int(part) for part in text)
        except ValueError:
            raise InvalidModel(
                f"{file.name}, line {number}: {line[:60]!r} is not a node and a direction such as 12.3."
            ) from None
        _require_direction(direction, file, number)
        dofs.append((node, direction))
    return tuple(dofs)


def read_nodes(path: Any) -> dict[int, np.ndarray]:
    """Coordinates (2,) or (3,) by node number, in the units of the file: "node, x, y[, z]"."""
    file = _existing(path)
    table, lines = read_table(file, (3, 4))
    labels = _whole(table[:, :1], lines, file, "a node number")[:, 0]
    nodes = {int(label): point for label, point in zip(labels, table[:, 1:], strict=True)}
    if len(nodes) < labels.size:
        seen, counts = np.unique(labels, return_counts=True)
        twice = int(seen[np.argmax(counts > 1)])
        raise InvalidModel(f"{file.name}: node {twice} is there twice; node numbers must differ.")
    return nodes


def read_table(path: Any, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (k, columns) and the line (k,) each row stands in; the number of columns is one of ``columns``."""
    file = _existing(path)
    data, comment = _first_data(file), _first_line(file)[:1]
    if not data:
        raise InvalidModel(f"{file.name} holds no rows of {' or '.join(map(str, columns))} numbers.")
    try:
        values = np.loadtxt(
            file,
            comments=comment
            if comment in _COMMENTS
            else "#",  # one kind only: numpy then reads at full speed
            delimiter="," if "," in data else None,
            ndmin=2,
        )
    except ValueError:
        return _table_line_by_line(file, columns)
    if values.shape[1] not in columns or not np.isfinite(values).all():
        return _table_line_by_line(file, columns)
    return values, np.zeros(len(values), dtype=int)


def _table_line_by_line(file: Path, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """For what numpy cannot read: titles, exponents with D, and errors that have to name their line."""
    rows: list[list[float]] = []
    lines: list[int] = []
    allowed = " or ".join(str(count) for count in columns)
    for number, line in _data_lines(file):
        parts = line.replace(",", " ").replace("D", "E").replace("d", "e").split()
        try:
            row = [float(part) for part in parts]
        except ValueError:
            if not rows:
                continue  # titles of the columns
            raise InvalidModel(
                f"{file.name}, line {number}: {line[:60]!r} is not a row of numbers."
            ) from None
        if len(row) not in columns or (rows and len(row) != len(rows[0])):
            expected = len(rows[0]) if rows else allowed
            raise InvalidModel(f"{file.name}, line {number}: {len(row)} numbers, expected {expected}.")
        if not np.isfinite(row).all():
            raise InvalidModel(f"{file.name}, line {number}: {line[:60]!r} has a number that is not finite.")
        rows.append(row)
        lines.append(number)
    if not rows:
        raise InvalidModel(f"{file.name} holds no rows of {allowed} numbers.")
    return np.array(rows), np.array(lines)


def _numbered(table: np.ndarray, lines: np.ndarray, file: Path) -> MatrixFile:
    numbers = _whole(table[:, :2], lines, file, "a row or column number from 1 on", least=1)
    n = int(numbers.max())
    _require_size(n, len(numbers), file)
    return MatrixFile(_from_entries(numbers[:, 0] - 1, numbers[:, 1] - 1, table[:, 2], n, file))


def _labelled(table: np.ndarray, lines: np.ndarray, file: Path) -> MatrixFile:
    labels = _whole(table[:, :4], lines, file, "a node number and a direction")
    pairs = labels.reshape(-1, 2)
    for k in np.flatnonzero((pairs[:, 1] < 1) | (pairs[:, 1] > 6) | (pairs[:, 0] < 1))[:1]:
        at = _line(lines, k // 2, file)
        raise InvalidModel(
            f"{at}: node {pairs[k, 0]}, direction {pairs[k, 1]}; allowed are nodes from 1 on and directions 1 to 6. "
            "Internal nodes (of connectors, Lagrange multipliers) cannot be imported."
        )
    dofs, numbers = np.unique(pairs, axis=0, return_inverse=True)
    numbers = numbers.reshape(-1, 2)
    matrix = _from_entries(numbers[:, 0], numbers[:, 1], table[:, 4], len(dofs), file)
    return MatrixFile(matrix, tuple((int(node), int(direction)) for node, direction in dofs))


def _from_entries(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, n: int, file: Path) -> Any:
    """A symmetric matrix from one triangle or both; an entry given twice in the same place is refused."""
    keys = rows.astype(np.int64) * n + columns
    unique = np.unique(keys)
    if unique.size < keys.size:
        first = int(np.argmax(np.bincount(np.searchsorted(unique, keys)) > 1))
        row, column = divmod(int(unique[first]), n)
        raise InvalidModel(f"{file.name}: the entry of row {row + 1}, column {column + 1} is there twice.")
    return _symmetric(sparse.csr_array((values, (rows, columns)), shape=(n, n)), file)


def _symmetric(matrix: Any, file: Path) -> Any:
    """The matrix itself, or completed from its triangle."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise InvalidModel(f"{file.name} holds an array of shape {matrix.shape}; expected a matrix (n, n).")
    if not np.isfinite(matrix.data).all():
        raise InvalidModel(f"{file.name} has entries that are not finite.")
    below, above = sparse.tril(matrix, -1, format="csr"), sparse.triu(matrix, 1, format="csr")
    if below.count_nonzero() == 0 or above.count_nonzero() == 0:
        return sparse.csr_array(matrix + (below + above).T)
    if abs(below - above.T).max() > 1e-9 * np.abs(matrix.data).max():
        raise InvalidModel(f"{file.name} holds a matrix that is not symmetric; mass and stiffness must be.")
    return sparse.csr_array(matrix)


def _numpy(file: Path, kind: str) -> Any:
    try:
        if file.suffix == ".npy":
            return sparse.csr_array(np.load(file, allow_pickle=False))
        with np.load(file, allow_pickle=False) as archive:
            names = list(archive.files)
            if "format" in names and "shape" in names:
                stored = sparse.load_npz(file)
                _require_size(max(stored.shape), stored.data.size, file)
                if stored.format in ("csr", "csc", "bsr"):
                    stored.check_format(full_check=True)  # before anything is done with its indices
                return sparse.csr_array(stored)
            if kind not in names and len(names) != 1:
                listed = " ".join(", ".join(names).split())[:200]
                raise InvalidModel(f"{file.name} holds {listed}, but no array '{kind}'.")
            return sparse.csr_array(archive[kind if kind in names else names[0]])
    except InvalidModel:
        raise
    except (Exception, MemoryError) as error:  # their readers fail in many ways on damaged files
        raise InvalidModel(
            f"{file.name} cannot be read as a matrix of numpy or scipy: {' '.join(str(error).split())[:200]}."
        ) from None


def _whole(values: np.ndarray, lines: np.ndarray, file: Path, what: str, least: int = -(2**62)) -> np.ndarray:
    wrong = (values != np.round(values)) | (values < least) | (np.abs(values) > _LARGEST_WHOLE)
    if wrong.any():
        k, j = np.argwhere(wrong)[0]
        raise InvalidModel(f"{_line(lines, k, file)}: {values[k, j]:g} is not {what}.")
    return values.astype(np.int64)


def _line(lines: np.ndarray, k: int, file: Path) -> str:
    """File and line of row k; the lines of a file that numpy has read are counted only now."""
    if lines[k]:
        return f"{file.name}, line {lines[k]}"
    for position, (number, _) in enumerate(_data_lines(file)):
        if position == k:
            return f"{file.name}, line {number}"
    return file.name


def _require_direction(direction: int, file: Path, line: int) -> None:
    if not 1 <= direction <= 6:
        raise InvalidModel(
            f"{file.name}, line {line}: direction {direction}; allowed are 1 to 3 (displacements), 4 to 6 (rotations)."
        )


def _data_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Number and text of the lines that hold data."""
    with _opened(file) as stream:
        for number, line in enumerate(stream, start=1):
            text = line.strip()
            if text and not text.startswith(_COMMENTS):
                yield number, text


def _first_data(file: Path) -> str:
    return next((text for _, text in _data_lines(file)), "")


def _first_line(file: Path) -> str:
    with _opened(file) as stream:
        return stream.readline()


def _opened(file: Path) -> Any:
    if file.suffix == ".gz":
        import gzip

        return gzip.open(file, "rt", encoding="utf-8", errors="replace")
    return file.open(encoding="utf-8", errors="replace")


def _existing(path: Any) -> Path:
    file = Path(path)
    if not file.is_file():
        raise InvalidModel(f"there is no file {str(path)!r}; give the path of a matrix or table.")
    return file
