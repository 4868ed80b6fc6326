"""What NumPy does faster: many blocks are decoded together, many boards numbered. Imported only if it is there."""
import itertools
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Sequence, Tuple

import numpy

from . import checksum, codec
from .errors import Unsolved, check

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MANY = 6  # blocks for which walking along all lanes together pays
TILE = 64  # rows that are turned at a time, so that they stay in the caches
TOGETHER = 32  # pieces whose checksums are computed together
LEVELS = 64  # of a code: no rank is larger than 127


def ranks(code: bytes, n: int) -> "NDArray[numpy.uint8]":
    """The n ranks of a code: see codec.ranks."""
    data, at = numpy.frombuffer(code, numpy.uint8), 0

    def bits(count: int) -> "NDArray[numpy.uint8]":
        nonlocal at
        begin, at = at, at + (count + 7) // 8
        check(at <= len(data), "code cut short")
        return numpy.unpackbits(data[begin:at], count=count, bitorder="little")

    low, levels, places = bits(n), [bits(n)], []
    while True:
        places.append(levels[-1].view(bool).nonzero()[0])
        if len(places[-1]) == 0:
            break
        check(len(levels) < LEVELS, "rank without a symbol")
        levels.append(bits(len(places[-1])))
    check(at == len(data), "code too long")
    ones = levels.pop()  # of each rank of a level, from there on: none in the last
    for level, place in zip(reversed(levels), reversed(places[:-1])):
        ones += 1
        level[place] = ones
        ones = level
    ones += ones
    ones += low
    return ones


def _turned(matrix: "NDArray[numpy.uint8]") -> "NDArray[numpy.uint8]":
    """Columns for rows, in tiles."""
    out = numpy.empty(matrix.shape[::-1], matrix.dtype)
    for i in range(0, len(matrix), TILE):
        out[:, i:i + TILE] = matrix[i:i + TILE].T
    return out


def _walk(model: codec.Model, rows: "NDArray[numpy.uint8]") -> None:
    """Makes scores of ranks: a row has one rank of each lane."""
    most, odd = model.symbols, model.symbols | 1
    table = numpy.zeros((odd, odd, odd), numpy.intp)  # odd times the symbol, which saves a multiplication
    table[:most, :most, :most] = odd * numpy.frombuffer(model.table(), numpy.uint8).reshape(most, most, most).astype(numpy.intp)
    flat = table.ravel()
    one, two, three, new = numpy.zeros((4, rows.shape[1]), numpy.intp)  # so many symbols back
    for row in rows:
        three *= odd
        three += one
        three += row
        flat.take(three, out=new, mode="clip")  # no index is beyond the table; "raise" would copy
        row[:] = new
        one, two, three, new = new, one, two, three
    rows *= numpy.uint8(pow(odd, 63, 256))  # back to the symbols: the 64th power of an odd number is 1 modulo 256
    rows += numpy.uint8(model.lowest & 255)


def decode(model: codec.Model, codes: Sequence[bytes], lengths: Sequence[int]) -> List[memoryview]:
    """The scores of blocks: see codec.decode."""
    if len(codes) < MANY:
        return [model.scores(ranks(code, n).tolist()) for code, n in zip(codes, lengths)]
    lanes = numpy.zeros((codec.LANES * len(codes), max(codec.lanes(n)[-1] - codec.lanes(n)[-2] for n in lengths)), numpy.uint8)
    places = [lanes[codec.LANES * i:codec.LANES * (i + 1)] for i in range(len(codes))]
    for place, code, n in zip(places, codes, lengths):
        rank, each = ranks(code, n), n // codec.LANES
        check(rank.max() < model.symbols, "rank without a symbol")
        place[:, :each] = rank[:codec.LANES * each].reshape(codec.LANES, each)
        place[-1, each:n - (codec.LANES - 1) * each] = rank[codec.LANES * each:]
    rows = _turned(lanes)
    _walk(model, rows)
    lanes[:] = _turned(rows)
    return [_joined(place, n) for place, n in zip(places, lengths)]


def _joined(place: "NDArray[numpy.uint8]", n: int) -> memoryview:
    """The lanes of n scores one behind the other."""
    each, out = n // codec.LANES, numpy.empty(n, numpy.int8)
    out[:codec.LANES * each].reshape(codec.LANES, each)[:] = place[:, :each]
    out[codec.LANES * each:] = place[-1, each:n - (codec.LANES - 1) * each]
    return out.data


def within(scores: memoryview, most: int) -> bool:
    """Whether no score is more than most, or less than -most."""
    array = numpy.frombuffer(scores, numpy.int8)
    return int(array.max()) <= most and int(array.min()) >= -most


def crcs(pieces: Sequence[checksum.Bytes]) -> List[int]:
    """The CRC-32C of each of many pieces, as many at a time as the caches hold."""
    return [crc for i in range(0, len(pieces), TOGETHER) for crc in _crcs(pieces[i:i + TOGETHER])]


def _crcs(pieces: Sequence[checksum.Bytes]) -> List[int]:
    power, (high, middle, _) = checksum.RELATIONS[0]  # of bits, and of bytes as well
    size = max(map(len, pieces))
    if min(map(len, pieces)) < 4 or size <= power:
        return checksum.crcs(pieces)
    rows = numpy.zeros((len(pieces), size), numpy.uint8)
    for row, piece in zip(rows, pieces):  # zeros in front change nothing
        row[size - len(piece):] = numpy.frombuffer(piece, numpy.uint8)
        row[size - len(piece):][:4] ^= 255
    for at in range(0, size - power, power - high):
        front = rows[:, at:min(at + power - high, size - power)]
        for other in (high, middle, 0):
            rows[:, at + power - other:][:, :front.shape[1]] ^= front
    return [checksum.remainder(row[size - power:].tobytes()) ^ 0xFFFFFFFF for row in rows]


def plain(boards: Sequence[Any], pits: int, most: int) -> "Optional[NDArray[numpy.int16]]":
    """Boards as an array, if all are lists or tuples of whole numbers with up to most seeds; whoever looks at each says what is wrong."""
    if not all(type(board) in (list, tuple) and len(board) == pits for board in boards):
        return None
    numbers = list(itertools.chain.from_iterable(boards))
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) > most:
        return None
    rows = numpy.array(numbers, numpy.int16).reshape(-1, pits)
    return rows if rows.sum(axis=1).max() <= most else None


def seeds(boards: "NDArray[numpy.integer[Any]]", pits: int, most: int) -> "NDArray[numpy.int64]":
    """How many seeds each row has. Raises ValueError for an array of no boards, and for a board that cannot be."""
    if not isinstance(boards, numpy.ndarray) or boards.ndim != 2 or boards.shape[1] != pits or boards.dtype.kind not in "iu":
        raise ValueError("an array of %s with the shape %s is no boards: one of whole numbers with %d columns is wanted" % (boards.dtype, boards.shape, pits))
    _want(~((boards < 0) | (boards > most)).any(axis=1), boards, "a pit has 0 to %d seeds" % most)  # a sum might wrap around
    found: "NDArray[numpy.int64]" = boards.sum(axis=1, dtype=numpy.int64)
    _want(found <= most, boards, "a board has at most %d seeds" % most)
    return found


def _want(good: "NDArray[numpy.bool_]", values: "NDArray[Any]", what: str) -> None:
    if not good.all():
        row = int(good.argmin())
        raise ValueError("row %d: %s: %s" % (row, values[row].tolist(), what))


def rank(binomials: List[List[int]], boards: "NDArray[numpy.integer[Any]]") -> "NDArray[numpy.int64]":
    """The ranks of boards that there are: see Tables.rank."""
    have, out = boards.cumsum(axis=1, dtype=numpy.int64), numpy.zeros(len(boards), numpy.int64)
    for i in range(boards.shape[1] - 1):
        out += numpy.array(binomials[i + 1], numpy.int64)[have[:, i] + i]
    return out


def unrank(binomials: List[List[int]], most: int, seeds: "ArrayLike", ranks: "NDArray[numpy.integer[Any]]") -> "NDArray[numpy.uint8]":
    """The boards with ranks: see Tables.unrank. Layers up to most are solved."""
    table, layers = numpy.array(binomials, numpy.int64), numpy.asarray(seeds)
    if ranks.ndim != 1 or ranks.dtype.kind not in "iu" or layers.dtype.kind not in "iu" or layers.shape not in ((), ranks.shape):
        raise ValueError("ranks are one column of whole numbers, seeds one such number or as many")
    layers = numpy.broadcast_to(layers, ranks.shape)
    _want(layers >= 0, layers, "a board has no fewer than 0 seeds")
    if layers.max(initial=0) > most:
        raise Unsolved("%d seeds: boards with 0 to %d are solved" % (layers.max(), most))
    left = layers.astype(numpy.int64) + len(table) - 1
    _want((ranks >= 0) & (ranks < table[-1][left]), ranks, "a rank is below the number of boards with so many seeds")
    out, rest = numpy.zeros((len(ranks), len(table)), numpy.uint8), ranks.astype(numpy.int64)
    for i in range(len(table) - 1, 0, -1):
        c = numpy.searchsorted(table[i], rest, side="right") - 1  # the largest that is not beyond
        rest -= table[i][c]
        out[:, i] = left - c - 1
        left = c
    out[:, 0] = left
    return out


def pick(seeds: "NDArray[numpy.int64]", ranks: "NDArray[numpy.int64]", sizes: Callable[[int], int],
         blocks: Callable[[List[Tuple[int, int]]], Iterable[Tuple[Tuple[int, int], memoryview]]]) -> "NDArray[numpy.int8]":
    """The scores of boards, out of blocks: sizes says how many scores those of a layer have, blocks gives those with some keys."""
    out = numpy.zeros(len(seeds), numpy.int8)
    for n in numpy.unique(seeds).tolist():
        rows = numpy.flatnonzero(seeds == n)
        block, at = numpy.divmod(ranks[rows], sizes(n))
        order = numpy.argsort(block, kind="stable")
        wanted, begin = numpy.unique(block[order], return_index=True)
        groups = numpy.split(order, begin[1:])
        for (_, scores), group in zip(blocks([(n, b) for b in wanted.tolist()]), groups):
            out[rows[group]] = numpy.frombuffer(scores, numpy.int8)[at[group]]
    return out


def signed(scores: bytearray) -> "NDArray[numpy.int8]":
    """Scores as an array of the same memory."""
    return numpy.frombuffer(scores, numpy.int8)


def unsigned(plies: bytearray) -> "NDArray[numpy.uint8]":
    """Distances as an array of the same memory."""
    return numpy.frombuffer(plies, numpy.uint8)
