"""Blocks of scores: see "Block" in docs/format/layer-file.md."""
from array import array

from .errors import Error, check

try:
    import numpy
except ImportError:
    numpy = None

LANES = 6
MANY = 4  # blocks for which NumPy pays


def lz4(data, most):
    """Decodes one block in the LZ4 block format, to at most so many bytes."""
    out, at, end = bytearray(), 0, len(data)
    while at < end:
        token = data[at]
        at += 1
        length = token >> 4
        if length == 15:
            more = 255
            while more == 255:
                more = data[at]
                at += 1
                length += more
        check(at + length <= end and len(out) + length <= most, "lz4: literals")
        out += data[at:at + length]
        at += length
        if at == end:  # the last sequence has no match
            break
        distance = data[at] | data[at + 1] << 8
        at += 2
        length = (token & 15) + 4
        if length == 19:
            more = 255
            while more == 255:
                more = data[at]
                at += 1
                length += more
        check(0 < distance <= len(out) and len(out) + length <= most, "lz4: match")
        start = len(out) - distance
        if distance >= length:
            out += out[start:start + length]
        else:
            out += (bytes(out[start:]) * (length // distance + 1))[:length]
    return bytes(out)


def _bits(code, at, n):
    """n bits from a byte on, as a list of 0 and 1, and the byte after them."""
    end = at + (n + 7) // 8
    check(end <= len(code), "code cut short")
    text = format(int.from_bytes(code[at:end], "little"), "0%db" % (8 * (end - at)))
    return [int(bit) for bit in text[:-n - 1:-1]], end


def ranks(code, n):
    """The n ranks of a code, as a list."""
    rank, at = _bits(code, 0, n)
    left = range(n)
    while left:
        level, at = _bits(code, at, len(left))
        left = [i for i, more in zip(left, level) if more]
        for i in left:
            rank[i] += 2
    check(at == len(code), "code too long")
    return rank


def _ranks_by_numpy(code, n):
    data = numpy.frombuffer(code, numpy.uint8)

    def bits(at, count):
        end = at + (count + 7) // 8
        check(end <= len(data), "code cut short")
        return numpy.unpackbits(data[at:end], bitorder="little")[:count], end

    low, at = bits(0, n)
    rank, left = low.astype(numpy.uint16), numpy.arange(n)
    while len(left):
        level, at = bits(at, len(left))
        left = left[level != 0]
        rank[left] += 2
    check(at == len(data), "code too long")
    return rank


def _lanes(n):
    """Where the lanes of n scores begin, and where the last one ends."""
    return [lane * (n // LANES) for lane in range(LANES)] + [n]


class Model:
    """What makes scores small numbers in a layer."""

    def __init__(self, data):
        """Reads the model of a layer file, which is not empty."""
        check(len(data) >= 2, "model cut short")
        self.lowest, self.symbols = data[0] - (data[0] >> 7 << 8), data[1]
        check(1 <= self.symbols <= 128 and self.lowest + self.symbols - 1 <= 127, "model: symbols")
        at = 2 + self.symbols
        self.usual = data[2:at]
        check(sorted(self.usual) == list(range(self.symbols)), "model: usual list")
        self.lists = []
        for _ in range(self.symbols ** 2):
            check(at < len(data), "model cut short")
            own = data[at + 1:at + 1 + data[at]]
            at += 1 + data[at]
            check(at <= len(data) and len(set(own)) == len(own) and max(own, default=0) < self.symbols, "model: list")
            self.lists.append(own)
        check(at == len(data), "model too long")
        self.table = None  # the completed lists one after the other, for NumPy

    def _completed(self, context):
        own = self.lists[context]
        if len(own) < self.symbols:
            own = self.lists[context] = own + bytes(s for s in self.usual if s not in own)
        return own

    def scores(self, rank):
        """The scores of a block with these ranks, which are at most 127, as an array of bytes."""
        check(max(rank) < self.symbols, "rank without a symbol")
        lists, symbols, lowest = self.lists, self.symbols, self.lowest
        out = array("b", bytes(len(rank)))
        lanes = _lanes(len(rank))
        for begin, end in zip(lanes, lanes[1:]):
            a = b = c = 0  # the symbols one, two and three back
            for i in range(begin, end):
                number, context = rank[i], symbols * c + a
                usual = lists[context]
                if number >= len(usual):
                    usual = self._completed(context)
                a, b, c = usual[number], a, b
                out[i] = lowest + a
        return out

    def scores_of_many(self, all_ranks):
        """Like scores, for NumPy arrays of ranks: it goes along the lanes of all blocks together."""
        if self.table is None:
            data = b"".join(self._completed(i) for i in range(len(self.lists)))
            self.table = numpy.frombuffer(data, numpy.uint8).astype(numpy.intp)
        pieces = [r[b:e] for r in all_ranks for b, e in zip(_lanes(len(r)), _lanes(len(r))[1:])]
        rank = numpy.zeros((max(map(len, pieces)), len(pieces)), numpy.intp)
        for lane, piece in enumerate(pieces):
            rank[:len(piece), lane] = piece
        check(rank.max() < self.symbols, "rank without a symbol")
        a = b = c = numpy.zeros(len(pieces), numpy.intp)
        for row in rank:
            a, b, c = self.table[(c * self.symbols + a) * self.symbols + row], a, b
            row[:] = a
        scores = (rank + self.lowest).astype(numpy.int8)
        joined = [scores[:len(piece), lane] for lane, piece in enumerate(pieces)]
        return [array("b", numpy.concatenate(joined[i:i + LANES]).tobytes()) for i in range(0, len(joined), LANES)]


def decode(model, codes, lengths):
    """The scores of blocks with these codes and so many scores each."""
    if numpy is not None and len(codes) >= MANY:
        return model.scores_of_many([_ranks_by_numpy(code, n) for code, n in zip(codes, lengths)])
    return [model.scores(ranks(code, n)) for code, n in zip(codes, lengths)]
