"""One layer file: see docs/format/layer-file.md."""
import struct
from typing import TYPE_CHECKING, Dict, List, Sequence, Tuple

from . import checksum, codec
from .checksum import crc32c
from .errors import Corrupt, check

if TYPE_CHECKING:
    from .manifest import Entry, Manifest
    from .source import File
try:
    from . import vectors
except ImportError:  # there is no NumPy
    vectors = None  # type: ignore[assignment]

HEADER, BELOW, ENTRY, FOOTER = 84, 10, 24, 76
MOST_BELOW = 1000  # layers below that a file names
WHOLE = 256 << 10  # bytes of an index that is read as a whole, and compared with its checksum
PART = 1024  # entries of a longer one that are read together
Row = Tuple[int, ...]  # an entry of the index: offset, length, flags, stored checksum, score checksum
MOST_INDEX = 16 << 20  # bytes of an index that a server makes us read as a whole


class Layer:
    """The scores, or the distances, of all boards with the same number of seeds, by rank."""

    def __init__(self, file: "File", manifest: "Manifest", entry: "Entry") -> None:
        """Checks everything but the blocks. manifest and entry say which layer it must be."""
        self.file, self.name = file, file.name
        self.parts: Dict[int, List[Row]] = {}
        try:
            self._open(manifest, entry)
        except (Corrupt, IndexError, struct.error) as error:
            raise Corrupt("%s: %s" % (self.name, error)) from None

    def _open(self, manifest: "Manifest", entry: "Entry") -> None:
        size = self.file.size
        check(size >= HEADER + FOOTER, "too short for a layer file")
        header = self.file.read(0, HEADER)
        check(header[:8] == b"\x89GL\r\n\x1a\n\0", "not a layer file")
        self.seeds: int
        self.block_size: int
        self.positions: int
        self.blocks: int
        (version, pits, self.seeds, game, rules, number, transform, below, self.block_size, self.positions, self.blocks,
         model_length, model_sum, header_sum) = struct.unpack("<8xIHH16s16sBBHIQQIII", header)
        check(version in (2, 3), "version %d of the format, this reader knows 2 and 3" % version)
        check(crc32c(header[:80]) == header_sum, "checksum of the header")
        check(number != 2, "the layer is compressed with zstd, which this version does not read: solve it again, or convert it (docs/export.md)")
        check(number == 1 and transform == 2, "unknown codec or transform")
        check(1 <= below <= MOST_BELOW if version == 3 else below == 0, "number of layers below")
        check((game.rstrip(b"\0"), rules.rstrip(b"\0"), pits, self.seeds) ==
              (b"awari-distances" if entry.scores else b"awari", manifest.rules.encode(), manifest.pits, entry.seeds), "another layer")
        check(1 <= self.block_size <= 1 << 16 and self.positions == entry.positions and
              self.blocks == -(-self.positions // self.block_size), "positions and blocks")
        begin = HEADER + BELOW * below
        self.start = begin + model_length
        check(self.start <= size - FOOTER, "length of the model")
        model = self.file.read(HEADER, self.start - HEADER)  # behind the layers below
        check(crc32c(model) == model_sum, "checksum of the model")
        self.most = 128 if entry.scores else self.seeds
        check(not entry.scores or (below == 1 and struct.unpack_from("<HQ", model) == (self.seeds, int(entry.scores, 16))), "distances of other scores")
        self.model = codec.Model(model[begin - HEADER:]) if model_length else None
        self._open_index(entry, header_sum)

    def _open_index(self, entry: "Entry", header_sum: int) -> None:
        size = self.file.size
        footer = self.file.read(size - FOOTER, FOOTER)
        self.index, length, index_sum, copy, hash_, win, draw, loss, total, footer_sum, magic = struct.unpack("<QQIIQQQQQI8s", footer)
        check(magic == b"\0LGend\r\n" and crc32c(footer[:64]) == footer_sum, "checksum of the footer")
        check((total, length, copy, self.index + length) == (size, ENTRY * self.blocks, header_sum, size - FOOTER) and
              win + draw + loss == self.positions and self.index >= self.start, "footer")
        check(("%08x" % footer_sum, "%016x" % hash_, draw, size) == (entry.checksum, entry.fnv1a64, entry.draw, entry.bytes) and
              (entry.scores or (win, loss) == (entry.win, entry.loss)), "not the file that the manifest lists")
        if length <= WHOLE or self.file.unsure:
            check(length <= MOST_INDEX, "the index is too long for a server whose validators prove nothing")
            data = self.file.read(self.index, length)
            check(crc32c(data) == index_sum, "checksum of the index")
            for part in range(-(-self.blocks // PART)):
                self.parts[part] = self._check_part(part, data[ENTRY * PART * part:ENTRY * PART * (part + 1)])

    def _check_part(self, part: int, data: bytes) -> "List[Row]":
        """The entries of a part of the index."""
        entries: List[Row] = list(struct.iter_unpack("<QIIII", data))
        first = PART * part
        if first == 0 and entries:
            check(entries[0][0] == self.start, "block 0: index entry")
        ends = [entry[0] for entry in entries[1:]]
        if first + len(entries) == self.blocks:
            ends.append(self.index)
        for i, (offset, length, flags, _, _) in enumerate(entries):
            n = self.length(first + i)
            fits = length == n if flags == 1 else 0 < length < n and flags == 0 and self.model is not None
            inside = self.start <= offset and offset + length <= self.index
            check(fits and inside and (i >= len(ends) or offset + length == ends[i]), "block %d: index entry" % (first + i))
        return entries

    def length(self, block: int) -> int:
        """How many scores a block has."""
        return min(self.block_size, self.positions - block * self.block_size)

    def _entries(self, blocks: Sequence[int]) -> "List[Row]":
        """The index entries of blocks."""
        wanted = sorted({block // PART for block in blocks} - self.parts.keys())
        spans = [(self.index + ENTRY * PART * part, ENTRY * (min(self.blocks, PART * (part + 1)) - PART * part)) for part in wanted]
        for part, data in zip(wanted, self.file.read_many(spans)):
            self.parts[part] = self._check_part(part, data)
        return [self.parts[block // PART][block % PART] for block in blocks]

    def read(self, blocks: Sequence[int]) -> List[memoryview]:
        """The scores of blocks, signed bytes each. They are read and decoded together."""
        try:
            return self._read(blocks)
        except Corrupt as error:
            raise Corrupt("%s: %s" % (self.name, error)) from None

    def _read(self, blocks: Sequence[int]) -> List[memoryview]:
        entries = self._entries(blocks)
        stored = self.file.read_many([(offset, length) for offset, length, _, _, _ in entries])
        scores: Dict[int, memoryview] = {}
        codes: Dict[int, bytes] = {}
        crcs = checksum.crcs if vectors is None else vectors.crcs
        for block, entry, data, crc in zip(blocks, entries, stored, crcs(stored)):
            check(crc == entry[3], "block %d: checksum of the stored bytes" % block)
            if entry[2] == 1:
                scores[block] = memoryview(data).cast("b")
                continue
            try:
                codes[block] = codec.lz4(data, self.length(block))
            except (Corrupt, IndexError) as error:
                raise Corrupt("block %d: %s" % (block, error)) from None
        scores.update(self._decoded(codes))
        within = codec.within if vectors is None else vectors.within
        for block, entry, crc in zip(blocks, entries, crcs([scores[block] for block in blocks])):
            check(crc == entry[4], "block %d: checksum of the scores" % block)
            check(within(scores[block], self.most), "block %d: a score beyond the seeds" % block)
        return [scores[block] for block in blocks]

    def _decoded(self, codes: Dict[int, bytes]) -> Dict[int, memoryview]:
        """The scores of blocks with these codes."""
        if not codes:
            return {}
        check(self.model is not None, "compressed blocks, but no model")
        assert self.model is not None
        decode = codec.decode if vectors is None else vectors.decode
        try:
            return dict(zip(codes, decode(self.model, list(codes.values()), [self.length(block) for block in codes])))
        except Corrupt as error:
            raise Corrupt("one of the blocks %d to %d: %s" % (min(codes), max(codes), error)) from None
