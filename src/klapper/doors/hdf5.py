"""Datasets of HDF5 files as klapper writes them, read without the HDF5 library.

That library follows a file to other files (external storage, external links, virtual datasets), allocates what a file
declares, loads plug-ins for filters, and ends the process on files that were made to harm it. So what klapper writes,
a small part of the format (version 1.10, "HDF5 File Format Specification 3.0"), is read here, and all else refused:

    superblock → root group → hard links → objects with dataspace, datatype, layout, filters → bytes of the file

Links lie in the header of a group, or in its heap and B-tree if they are many. Data is contiguous, compact or in
chunks (one, or a fixed array of them), whole and in this file, filtered by shuffle and gzip at most. Every address is
compared with the size of the file; the size of an array is known, and can be refused, before it is read.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import BinaryIO

import numpy as np

from klapper.doors.errors import Unreadable
from klapper.doors.files import opened

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_NOWHERE = 2**64 - 1
_MOST_MESSAGES, _MOST_CHUNKS, _MOST_LINKS = 1000, 10_000_000, 20_000
_DATASPACE, _LINK_INFO, _DATATYPE, _LINK, _EXTERNAL, _LAYOUT, _FILTERS, _CONTINUATION = (
    0x01, 0x02, 0x03, 0x06, 0x07, 0x08, 0x0B, 0x10,
)  # fmt: skip
_SHUFFLE, _DEFLATE = 2, 1
# offset and precision in bits, place and size of exponent and mantissa, bias; of IEEE and of x86's long double
_FLOATS = {
    2: (0, 16, 10, 5, 0, 10, 15),
    4: (0, 32, 23, 8, 0, 23, 127),
    8: (0, 64, 52, 11, 0, 52, 1023),
    16: (0, 80, 64, 15, 0, 64, 16383),
}


@dataclass(frozen=True)
class Dataset:
    """An array that is not read yet: its ``shape`` and ``dtype``, as the file declares them."""

    shape: tuple[int, ...]
    dtype: np.dtype
    _pieces: tuple[_Piece, ...]
    _chunk: tuple[int, ...]
    _filters: tuple[int, ...]
    _file: Hdf5

    @property
    def size(self) -> int:
        """Bytes of the array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    def read(self) -> np.ndarray:
        """The array, writable and in the byte order of this machine; refused if it is more than is allowed."""
        self._file.allowed -= self.size
        if self._file.allowed < 0:
            raise TooLarge("it unpacks to more than its size allows")
        array = np.empty(self.shape, self.dtype)
        if self._filters or self._chunk != self.shape:
            counts = [-(-length // part) for length, part in zip(self.shape, self._chunk, strict=True)]
            for piece, place in zip(self._pieces, product(*map(range, counts)), strict=True):
                corner = [number * part for number, part in zip(place, self._chunk, strict=True)]
                inside = tuple(
                    slice(start, min(start + part, length))
                    for start, part, length in zip(corner, self._chunk, self.shape, strict=True)
                )
                whole = self._unpacked(piece)
                array[inside] = whole[tuple(slice(0, part.stop - part.start) for part in inside)]
        elif array.size:
            (piece,) = self._pieces
            array = np.frombuffer(piece.data or self._file.at(piece.address, piece.size), self.dtype)
            array = array.reshape(self.shape).copy()
        return array.astype(self.dtype.newbyteorder("="), copy=False)

    def _unpacked(self, piece: _Piece) -> np.ndarray:
        """The elements of a chunk."""
        size = math.prod(self._chunk) * self.dtype.itemsize
        content = self._file.at(piece.address, piece.size)
        if _DEFLATE in self._filters:
            packed = zlib.decompressobj()
            try:
                content = packed.decompress(content, size + 1)
            except zlib.error as error:
                raise Unreadable(f"a chunk is damaged ({error})") from None
        if len(content) != size:
            raise Unreadable("a chunk has another size than it declares")
        if _SHUFFLE in self._filters and self.dtype.itemsize > 1:
            planes = np.frombuffer(content, np.uint8).reshape(self.dtype.itemsize, -1)
            return np.ascontiguousarray(planes.T).view(self.dtype).reshape(self._chunk)
        return np.frombuffer(content, self.dtype).reshape(self._chunk)


@dataclass(frozen=True)
class _Piece:
    """Bytes in the file, or ``data`` in the header of their dataset."""

    address: int
    size: int
    data: bytes = b""


class Group:
    """A group: its members by name."""

    def __init__(self, file: Hdf5, messages: list[tuple[int, bytes]], depth: int) -> None:
        self._file, self._messages, self._depth = file, messages, depth

    def __contains__(self, name: str) -> bool:
        return name in self._links

    @property
    def names(self) -> list[str]:
        return sorted(self._links)

    def group(self, name: str) -> Group:
        """The group called ``name``."""
        if self._depth > 3:
            raise Unreadable("its groups are nested too deeply")
        return Group(self._file, self._file.messages(self._address(name)), self._depth + 1)

    def dataset(self, name: str) -> Dataset:
        """The dataset called ``name``, not read yet."""
        try:
            return _dataset(self._file, self._file.messages(self._address(name)))
        except Unreadable as error:
            raise Unreadable(f"'{name}': {error}") from None

    def _address(self, name: str) -> int:
        if name not in self._links:
            raise Unreadable(f"it has no '{name}'")
        kind, address = self._links[name]
        if kind != 0:
            raise Unreadable(f"'{name}' is a link that leads elsewhere, and only what is in the file is read")
        return address

    @cached_property
    def _links(self) -> dict[str, tuple[int, int]]:
        """Kind and address by name."""
        found: dict[str, tuple[int, int]] = {}
        infos = [content for kind, content in self._messages if kind == _LINK_INFO]
        if not infos:
            raise Unreadable("a group is none")
        stored = [content for kind, content in self._messages if kind == _LINK]
        heap, tree = _link_info(infos[0])
        if heap != _NOWHERE:
            stored += _in_heap(self._file, heap, tree)
        for content in stored:
            name, kind, address = _link(content)
            found[name] = (kind, address)
        return found


class TooLarge(Unreadable):
    """A small file that unpacks to very much."""


class Hdf5:
    """An HDF5 file that begins at byte ``base`` of a stream; up to ``allowed`` bytes of arrays are read from it."""

    def __init__(self, stream: BinaryIO, base: int = 0) -> None:
        self._stream, self._base = stream, base
        self.allowed = math.inf  # bytes of arrays that may still be read
        self.length = os.fstat(stream.fileno()).st_size - base
        block = _Bytes(self.at(0, 48))
        version = block.take(8) == _SIGNATURE and block.whole(1)
        sizes = block.whole(1), block.whole(1)
        block.whole(1)
        start, _, _, root = (block.whole(8) for _ in range(4))
        if version not in (2, 3) or sizes != (8, 8) or start != base:
            raise Unreadable("it is no HDF5 file of the version that klapper writes")
        self.root = Group(self, self.messages(root), 0)

    def at(self, address: int, size: int) -> bytes:
        """Bytes of the file; :class:`Unreadable` if it has none there."""
        if address < 0 or size < 0 or address + size > self.length:
            raise Unreadable("it points to a place outside of itself")
        self._stream.seek(self._base + address)
        content = self._stream.read(size)
        if len(content) != size:
            raise Unreadable("it was cut while it was read")
        return content

    def messages(self, address: int) -> list[tuple[int, bytes]]:
        """Kind and content of the messages of an object header."""
        head = _Bytes(self.at(address, min(40, max(self.length - address, 0))))
        if head.take(4) != b"OHDR" or head.whole(1) != 2:
            raise Unreadable("an object has no header of the version that klapper writes")
        flags = head.whole(1)
        head.take(16 * (flags >> 5 & 1) + 4 * (flags >> 4 & 1))
        size = head.whole(1 << (flags & 3))
        found: list[tuple[int, bytes]] = []
        waiting = [(address + head.position, size)]
        while waiting:
            place, length = waiting.pop(0)
            part = _Bytes(self.at(place, length))
            while part.left >= 4 + 2 * (flags >> 2 & 1):
                kind, size, marks = part.whole(1), part.whole(2), part.whole(1)
                part.take(2 * (flags >> 2 & 1))
                content = part.take(size)
                if kind == _CONTINUATION:
                    where = _Bytes(content)
                    place, length = where.whole(8), where.whole(8)
                    if self.at(place, 4) != b"OCHK" or length < 8:
                        raise Unreadable("an object header is damaged")
                    waiting.append((place + 4, length - 8))
                else:
                    found.append((kind if not marks & 2 else -kind, content))  # shared ones lie elsewhere
                if len(found) + len(waiting) > _MOST_MESSAGES:
                    raise Unreadable("an object header has too many messages")
        return found


@contextmanager
def open_hdf5(path: Path, base: int = 0) -> Iterator[Hdf5]:
    """The HDF5 file that begins at byte ``base`` of a regular file."""
    with opened(path) as stream:
        yield Hdf5(stream, base)


@dataclass
class _Bytes:
    """Takes bytes and whole numbers one after the other."""

    content: bytes
    position: int = field(default=0)

    @property
    def left(self) -> int:
        return len(self.content) - self.position

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise Unreadable("a part of it is too short")
        self.position += size
        return self.content[self.position - size : self.position]

    def whole(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def _link_info(content: bytes) -> tuple[int, int]:
    """Addresses of the heap and of the B-tree of a group with many links."""
    info = _Bytes(content)
    if info.whole(1) != 0:
        raise Unreadable("a group is of an unknown version")
    info.take(8 * (info.whole(1) & 1))
    return info.whole(8), info.whole(8)


def _link(content: bytes) -> tuple[str, int, int]:
    """Name, kind (0 hard) and address of a link."""
    link = _Bytes(content)
    if link.whole(1) != 1:
        raise Unreadable("a link is of an unknown version")
    flags = link.whole(1)
    kind = link.whole(1) if flags & 8 else 0
    link.take(8 * (flags >> 2 & 1) + (flags >> 4 & 1))
    name = link.take(link.whole(1 << (flags & 3))).decode("utf-8", "replace")
    return name, kind, link.whole(8) if kind == 0 else _NOWHERE


def _in_heap(file: Hdf5, heap: int, tree: int) -> list[bytes]:
    """The links of a group that has many: the B-tree says where in the heap each of them is."""
    find = _Heap(file, heap)
    head = _Bytes(file.at(tree, 38))
    if head.take(4) != b"BTHD" or head.whole(1) != 0 or head.whole(1) != 5:
        raise Unreadable("the index of a group is damaged")
    node, record, depth = head.whole(4), head.whole(2), head.whole(2)
    head.take(2)
    root, count, total = head.whole(8), head.whole(2), head.whole(8)
    if record != 4 + find.id_length or depth > 2 or total > _MOST_LINKS or not record < node < 2**20:
        raise Unreadable("the index of a group is damaged")
    found: list[bytes] = []
    waiting = [(root, count, depth)]
    most = (node - 10) // record  # in a leaf, and below: in a node above leaves, and in all of those together
    pointer = 8 + _bytes_for(most)
    above = (node - 10 - pointer) // (record + pointer)
    together = (above + 1) * most + above
    while waiting:
        address, count, depth = waiting.pop()
        if len(found) + count > total:
            raise Unreadable("the index of a group is damaged")
        part = _Bytes(file.at(address, node))
        if part.take(4) != (b"BTIN" if depth else b"BTLF") or part.take(2) != b"\0\x05":
            raise Unreadable("the index of a group is damaged")
        for _ in range(count):
            part.take(4)
            found.append(find.object(part.take(find.id_length)))
        for _ in range((count + 1) * (depth > 0)):
            child = part.whole(8)
            inside = part.whole(_bytes_for(most))
            part.take(_bytes_for(together) if depth > 1 else 0)
            waiting.append((child, inside, depth - 1))
            if len(waiting) > _MOST_LINKS:
                raise Unreadable("the index of a group is damaged")
    return found


class _Heap:
    """A fractal heap: blocks of doubling size, found by the offset of an object."""

    def __init__(self, file: Hdf5, address: int) -> None:
        self._file = file
        head = _Bytes(file.at(address, 142))
        if head.take(4) != b"FRHP" or head.whole(1) != 0:
            raise Unreadable("the heap of a group is damaged")
        self.id_length = head.whole(2)
        filters = head.whole(2)
        head.take(1)
        largest = head.whole(4)
        head.take(96)
        self._width, self._start, self._direct = head.whole(2), head.whole(8), head.whole(8)
        bits = head.whole(2)
        head.take(2)
        self._root, self._rows = head.whole(8), head.whole(2)
        if filters or bits > 64 or not 0 < self._start <= self._direct < 2**32 or not 0 < self._width <= 64:
            raise Unreadable("the heap of a group is damaged")
        self._offset = -(-bits // 8)
        self._size = min(_bytes_for(self._direct), _bytes_for(largest))

    def object(self, name: bytes) -> bytes:
        """The bytes that an identifier means."""
        part = _Bytes(name)
        if part.whole(1) != 0:
            raise Unreadable("the heap of a group is damaged")
        offset, size = part.whole(self._offset), part.whole(self._size)
        block, before, length = self._block(offset)
        if offset - before + size > length:
            raise Unreadable("the heap of a group is damaged")
        return self._file.at(block + offset - before, size)

    def _block(self, offset: int) -> tuple[int, int, int]:
        """Address, offset and size of the block that holds an offset."""
        if not self._rows:
            return self._root, 0, self._start
        before, size = 0, self._start
        for row in range(self._rows):
            size = self._start << max(row - 1, 0)
            if size > self._direct:
                break
            if offset < before + self._width * size:
                column = (offset - before) // size
                place = 13 + self._offset + 8 * (row * self._width + column)
                if self._file.at(self._root, 4) != b"FHIB":
                    break
                address = int.from_bytes(self._file.at(self._root + place, 8), "little")
                return address, before + column * size, size
            before += self._width * size
        raise Unreadable("the heap of a group is damaged")


def _bytes_for(number: int) -> int:
    """Bytes that a number of this size takes."""
    return -(-max(number.bit_length(), 1) // 8)


def _dataset(file: Hdf5, messages: list[tuple[int, bytes]]) -> Dataset:
    """What an object header tells of a dataset."""
    parts = dict(messages)
    if _EXTERNAL in parts or -_EXTERNAL in parts:
        raise Unreadable("its data is in another file, and only what is in the file is read")
    if not {_DATASPACE, _DATATYPE, _LAYOUT} <= parts.keys():
        raise Unreadable("it is no dataset as klapper writes it")
    if -_FILTERS in parts:
        raise Unreadable("its filters are none that klapper writes")
    shape, dtype = _shape(parts[_DATASPACE]), _dtype(parts[_DATATYPE])
    filters = _filters(parts[_FILTERS]) if _FILTERS in parts else ()
    pieces, chunk = _pieces(file, parts[_LAYOUT], shape, dtype.itemsize, filters)
    return Dataset(shape, dtype, pieces, chunk, filters, file)


def _shape(content: bytes) -> tuple[int, ...]:
    space = _Bytes(content)
    version, count, flags, kind = (space.whole(1) for _ in range(4))
    if version != 2 or kind > 1 or count > 8 or (kind == 0 and count) or flags & ~1:
        raise Unreadable("its shape is none that klapper writes")
    return tuple(space.whole(8) for _ in range(count))


def _filters(content: bytes) -> tuple[int, ...]:
    """Numbers of the filters, in the order of writing."""
    pipeline = _Bytes(content)
    version, count = pipeline.whole(1), pipeline.whole(1)
    found = []
    for _ in range(count if version == 2 else 0):
        number = pipeline.whole(2)
        if number not in (_SHUFFLE, _DEFLATE):
            raise Unreadable("its filters are none that klapper writes")
        pipeline.take(2)
        pipeline.take(4 * pipeline.whole(2))
        found.append(number)
    if tuple(found) not in ((_SHUFFLE, _DEFLATE), (_DEFLATE,), (_SHUFFLE,)):
        raise Unreadable("its filters are none that klapper writes")
    return tuple(found)


def _pieces(
    file: Hdf5, content: bytes, shape: tuple[int, ...], item: int, filters: tuple[int, ...]
) -> tuple[tuple[_Piece, ...], tuple[int, ...]]:
    """The pieces of a dataset in the order of their places, and the shape of each."""
    layout, size = _Bytes(content), math.prod(shape) * item
    version, kind = layout.whole(1), layout.whole(1)
    if version not in (3, 4) or kind not in (0, 1, 2) or (kind == 2 and version == 3):
        elsewhere = kind == 3
        raise Unreadable(
            "its data is in other datasets, and only what is in the file is read"
            if elsewhere
            else "its layout is none that klapper writes"
        )
    if kind < 2 and filters:
        raise Unreadable("its layout is none that klapper writes")
    if kind == 0:
        data = layout.take(layout.whole(2))
        if len(data) != size:
            raise Unreadable("its data has another size than its shape")
        return (_Piece(0, size, data),), shape
    if kind == 1:
        address, stored = layout.whole(8), layout.whole(8)
        if size == 0:
            return (), shape
        if stored != size:
            raise Unreadable("its data has another size than its shape")
        return (_within(file, address, size),), shape
    return _chunks(file, layout, shape, item, filters)


def _within(file: Hdf5, address: int, size: int) -> _Piece:
    if address + size > file.length:
        raise Unreadable("its data is not in the file")
    return _Piece(address, size)


def _chunks(
    file: Hdf5, layout: _Bytes, shape: tuple[int, ...], item: int, filters: tuple[int, ...]
) -> tuple[tuple[_Piece, ...], tuple[int, ...]]:
    flags, count = layout.whole(1), layout.whole(1)
    width = layout.whole(1)
    if count != len(shape) + 1 or not 0 < width <= 8 or not shape:
        raise Unreadable("its chunks do not fit its shape")
    *chunk, last = (layout.whole(width) for _ in range(count))
    fits = all(0 < part <= length for part, length in zip(chunk, shape, strict=True))
    if last != item or not fits:
        raise Unreadable("its chunks do not fit its shape")
    number = math.prod(-(-length // part) for length, part in zip(shape, chunk, strict=True))
    index, whole = layout.whole(1), math.prod(chunk) * item
    if index == 1 and number == 1:
        size = layout.whole(8) if flags & 2 else whole
        if (flags & 2 and layout.whole(4)) or flags & ~2 or bool(filters) != bool(flags & 2):
            raise Unreadable("its chunks are none that klapper writes")
        return (_within(file, layout.whole(8), size),), tuple(chunk)
    if index != 3 or flags or number > _MOST_CHUNKS:
        raise Unreadable("its chunks are none that klapper writes")
    layout.take(1)
    return tuple(_fixed_array(file, layout.whole(8), number, whole, bool(filters))), tuple(chunk)


def _fixed_array(file: Hdf5, address: int, number: int, whole: int, filtered: bool) -> Iterator[_Piece]:
    """The chunks that a fixed array lists, in pages if they are many."""
    head = _Bytes(file.at(address, 28))
    if head.take(4) != b"FAHD" or head.whole(1) != 0 or head.whole(1) != filtered:
        raise Unreadable("the list of its chunks is damaged")
    entry, bits, listed, block = head.whole(1), head.whole(1), head.whole(8), head.whole(8)
    if listed != number or not (8 < entry - 4 * filtered <= 16 if filtered else entry == 8) or bits > 20:
        raise Unreadable("the list of its chunks is damaged")
    if file.at(block, 4) != b"FADB":
        raise Unreadable("the list of its chunks is damaged")
    position, page = block + 14, 1 << bits
    paged = number > page
    if paged:
        pages = -(-number // page)
        position += -(-pages // 8) + 4
    for start in range(0, number, page if paged else number):
        length = min(page if paged else number, number - start)
        part = _Bytes(file.at(position, length * entry))
        position += length * entry + 4
        for _ in range(length):
            place = part.whole(8)
            size = part.whole(entry - 12) if filtered else whole
            if filtered and part.whole(4):
                raise Unreadable("its chunks are none that klapper writes")
            yield _within(file, place, size)


def _dtype(content: bytes) -> np.dtype:
    """Numbers, truth values, complex numbers and texts of fixed length."""
    kind = _Bytes(content)
    found = _type(kind)
    if found is None or found.itemsize == 0:
        raise Unreadable("its type is none that klapper writes")
    return found


def _type(kind: _Bytes, depth: int = 0) -> np.dtype | None:
    head, marks, size = kind.whole(1), kind.whole(3), kind.whole(4)
    version, order = head >> 4, "<>"[marks & 1]
    if version not in (1, 2, 3) or depth > 1:
        return None
    match head & 15:
        case 0:
            exact = (kind.whole(2), kind.whole(2)) == (0, 8 * size) and not marks & ~0b1001
            return (
                np.dtype(f"{order}{'i' if marks & 8 else 'u'}{size}")
                if exact and size in (1, 2, 4, 8)
                else None
            )
        case 1:
            stored = (kind.whole(2), kind.whole(2), *(kind.whole(1) for _ in range(4)), kind.whole(4))
            usual = marks & 1 | (0x20 | (8 * size - 1) << 8 if size != 16 else 79 << 8)
            if stored != _FLOATS.get(size) or marks != usual:
                return None
            return np.dtype(f"{order}f{size}") if size < 16 else np.dtype(np.longdouble)
        case 3:
            return np.dtype(f"S{size}") if 0 < size < 2**31 else None
        case 6:
            return _complex(kind, marks & 0xFFFF, size, version, depth)
        case 8:
            return _truth(kind, marks & 0xFFFF, size, version, depth)
    return None


def _complex(kind: _Bytes, count: int, size: int, version: int, depth: int) -> np.dtype | None:
    """Two equal floats called r and i."""
    parts = []
    for name in (b"r", b"i") if count == 2 else ():
        if kind.take(2 if version == 3 else 8).rstrip(b"\0") != name:
            return None
        offset = kind.whole(_bytes_for(size) if version == 3 else 4)
        kind.take(28 if version == 1 else 0)
        parts.append((offset, _type(kind, depth + 1)))
    if len(parts) != 2 or parts[0][1] is None or parts[0][1].kind != "f" or parts[1][1] != parts[0][1]:
        return None
    half = parts[0][1].itemsize
    if [offset for offset, _ in parts] != [0, half] or size != 2 * half:
        return None
    return (
        np.dtype(f"{parts[0][1].byteorder.replace('=', '<').replace('|', '<')}c{size}")
        if half < 16
        else np.dtype(np.clongdouble)
    )


def _truth(kind: _Bytes, count: int, size: int, version: int, depth: int) -> np.dtype | None:
    """An enumeration of FALSE and TRUE, as h5py writes truth values."""
    base = _type(kind, depth + 1)
    if base != np.dtype("i1") or count != 2 or size != 1:
        return None
    names = (b"FALSE\0", b"TRUE\0") if version == 3 else (b"FALSE\0\0\0", b"TRUE\0\0\0\0")
    if any(kind.take(len(name)) != name for name in names) or kind.take(2) != b"\0\x01":
        return None
    return np.dtype(bool)
