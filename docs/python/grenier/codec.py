"""Blocks of scores: see "Block" in docs/format/layer-file.md."""
from array import array
from typing import List, Sequence, Tuple

from .errors import check

LANES = 6


def lz4(data: bytes, most: int) -> bytes:
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


def _bits(code: bytes, at: int, n: int) -> Tuple[List[int], int]:
    """n bits from a byte on, as a list of 0 and 1, and the byte after them."""
    end = at + (n + 7) // 8
    check(end <= len(code), "code cut short")
    text = format(int.from_bytes(code[at:end], "little"), "0%db" % (8 * (end - at)))
    return [int(bit) for bit in text[:-n - 1:-1]], end


def ranks(code: bytes, n: int) -> List[int]:
    """The n ranks of a code, as a list."""
    rank, at = _bits(code, 0, n)
    left: Sequence[int] = range(n)
    while left:
        level, at = _bits(code, at, len(left))
        left = [i for i, more in zip(left, level) if more]
        for i in left:
            rank[i] += 2
    check(at == len(code), "code too long")
    return rank


def lanes(n: int) -> List[int]:
    """Where the lanes of n scores begin, and where the last one ends."""
    return [lane * (n // LANES) for lane in range(LANES)] + [n]


class Model:
    """What makes scores small numbers in a layer."""

    def __init__(self, data: bytes) -> None:
        """Reads the model of a layer file, which is not empty."""
        check(len(data) >= 2, "model cut short")
        self.lowest, self.symbols = data[0] - (data[0] >> 7 << 8), data[1]
        check(1 <= self.symbols <= 128 and self.lowest + self.symbols - 1 <= 127, "model: symbols")
        at = 2 + self.symbols
        self.usual = data[2:at]
        check(sorted(self.usual) == list(range(self.symbols)), "model: usual list")
        self.lists: List[bytes] = []
        for _ in range(self.symbols ** 2):
            check(at < len(data), "model cut short")
            own = data[at + 1:at + 1 + data[at]]
            at += 1 + data[at]
            check(at <= len(data) and len(set(own)) == len(own) and max(own, default=0) < self.symbols, "model: list")
            self.lists.append(own)
        check(at == len(data), "model too long")

    def table(self) -> bytes:
        """The completed lists one after the other."""
        return b"".join(map(self._completed, range(len(self.lists))))

    def _completed(self, context: int) -> bytes:
        own = self.lists[context]
        if len(own) < self.symbols:
            own = self.lists[context] = own + bytes(s for s in self.usual if s not in own)
        return own

    def scores(self, rank: Sequence[int]) -> memoryview:
        """The scores of a block with these ranks, which are at most 127, as signed bytes."""
        check(max(rank) < self.symbols, "rank without a symbol")
        lists, symbols, lowest = self.lists, self.symbols, self.lowest
        out = array("b", bytes(len(rank)))
        ends = lanes(len(rank))
        for begin, end in zip(ends, ends[1:]):
            a = b = c = 0  # the symbols one, two and three back
            for i in range(begin, end):
                number, context = rank[i], symbols * c + a
                usual = lists[context]
                if number >= len(usual):
                    usual = self._completed(context)
                a, b, c = usual[number], a, b
                out[i] = lowest + a
        return memoryview(out)


def decode(model: Model, codes: Sequence[bytes], lengths: Sequence[int]) -> List[memoryview]:
    """The scores of blocks with these codes and so many scores each, signed bytes."""
    return [model.scores(ranks(code, n)) for code, n in zip(codes, lengths)]


def within(scores: memoryview, most: int) -> bool:
    """Whether no score is more than most, or less than -most."""
    return max(scores) <= most and min(scores) >= -most
