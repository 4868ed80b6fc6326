#!/usr/bin/env python3
"""Prints scores of awari boards from solved layers, as docs/format describes them.

  read_layer.py DIR 1 1 1 1 1 2 4 2 3 0 0 0    one board, the mover's pits first
  read_layer.py DIR -                          boards on stdin, one a line

Needs Python 3.8, and for layers in zstd the module zstandard.
"""
import functools, json, math, os, struct, sys

def check(ok, what):
    if not ok:
        raise ValueError(what)

CRC = list(range(256))
for _ in range(8):
    CRC = [c >> 1 ^ (0x82F63B78 if c & 1 else 0) for c in CRC]

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF

def read_manifest(path):
    data = open(path, "rb").read()
    check(data.startswith(b'{\n  "format": "grenier-manifest",\n'), path + ": not a manifest")
    manifest = json.loads(data)
    check(manifest.get("version") == 1 and manifest.get("game") == "awari", path + ": unknown version or game")
    check(data.endswith(b'  "crc32c": "%08x"\n}\n' % crc32c(data[:-25])), path + ": checksum")
    return manifest

def lz4(data, _):
    out, at = bytearray(), 0
    def extended(length):
        nonlocal at
        more = 255 if length == 15 else 0
        while more == 255:
            more, at = data[at], at + 1
            length += more
        return length
    while at < len(data):
        token, at = data[at], at + 1
        literals = extended(token >> 4)
        out += data[at:at + literals]
        at += literals
        if at < len(data):  # the last sequence has no match
            distance, at = data[at] | data[at + 1] << 8, at + 2
            for _ in range(extended(token & 15) + 4):
                out.append(out[-distance])
    return bytes(out)

def zstd(data, n):
    try:
        from zstandard import ZstdDecompressor
    except ImportError:
        raise ValueError("the layer is in zstd, which takes the module zstandard") from None
    return ZstdDecompressor().decompress(data, max_output_size=n)

def bit_vector(code, at, n):
    end = at + (n + 7) // 8
    text = format(int.from_bytes(code[at:end], "little"), f"0{8 * (end - at)}b")[::-1]
    return [int(bit) for bit in text[:n]], end

def decode_ranks(code, n):
    rank, at = bit_vector(code, 0, n)
    left = list(range(n))
    while left:
        level, at = bit_vector(code, at, len(left))
        left = [i for i, more in zip(left, level) if more]
        for i in left:
            rank[i] += 2
    return rank

class Layer:
    def __init__(self, directory, manifest, entry):
        self.path = path = os.path.join(directory, entry["file"])
        self.file, self.lists = open(path, "rb"), []
        header, size = self.read(0, 84), os.fstat(self.file.fileno()).st_size
        (magic, version, pits, seeds, game, rules, codec, transform, _, self.block_size, self.positions, count, length,
         model_sum, header_sum) = struct.unpack("<8sIHH16s16sBBHIQQIII", header)
        check(magic == b"\x89GL\r\n\x1a\n\0", path + ": not a layer file")
        check(version == 2 and codec in (1, 2) and transform == 2, path + ": unknown version, codec or transform")
        check(crc32c(header[:80]) == header_sum, path + ": checksum of the header")
        check((game.rstrip(b"\0").decode(), rules.rstrip(b"\0").decode(), pits, seeds) ==
              (manifest["game"], manifest["rules"], manifest["pits"], entry["seeds"]), path + ": another layer")
        self.decompress, self.start, model = (lz4, zstd)[codec - 1], 84 + length, self.read(84, length)
        check(crc32c(model) == model_sum, path + ": checksum of the model")
        if model:
            self.lowest, self.symbols = struct.unpack("bB", model[:2])
            self.usual, at = model[2:2 + self.symbols], 2 + self.symbols
            for _ in range(self.symbols ** 2):
                self.lists.append(model[at + 1:at + 1 + model[at]])
                at += 1 + model[at]
        footer = self.read(size - 76, 76)
        self.index, index_size, _, copy, *_, length, footer_sum, magic = struct.unpack("<QQIIQQQQQI8s", footer)
        check(magic == b"\0LGend\r\n" and crc32c(footer[:64]) == footer_sum, path + ": checksum of the footer")
        check((length, index_size, copy, f"{footer_sum:08x}") == (size, 24 * count, header_sum, entry["checksum"]),
              path + ": footer, or not the file of the manifest")

    def read(self, offset, length):
        self.file.seek(max(0, offset))
        data = self.file.read(length)
        check(len(data) == length, self.path + ": truncated")
        return data

    @functools.lru_cache(64)
    def block(self, i):
        what, n = f"{self.path}: block {i}: ", min(self.block_size, self.positions - i * self.block_size)
        offset, length, plain, stored_sum, score_sum = struct.unpack("<QIIII", self.read(self.index + 24 * i, 24))
        check(self.start <= offset <= self.index - length and plain < 2 and length <= n, what + "index entry")
        stored = self.read(offset, length)
        check(crc32c(stored) == stored_sum, what + "checksum of the stored bytes")
        scores = struct.unpack(f"{n}b", stored) if plain else self.scores(decode_ranks(self.decompress(stored, n), n))
        check(crc32c(struct.pack(f"{n}b", *scores)) == score_sum, what + "checksum of the scores")
        return scores

    def scores(self, ranks):
        lanes = [lane * (len(ranks) // 6) for lane in range(6)] + [len(ranks)]
        for begin, end in zip(lanes, lanes[1:]):
            a = b = c = 0  # the symbols one, two and three back
            for i in range(begin, end):
                usual = self.lists[self.symbols * c + a]
                if ranks[i] >= len(usual):  # completed by the symbols that are not in it
                    usual = self.lists[self.symbols * c + a] = usual + bytes(s for s in self.usual if s not in usual)
                a, b, c = usual[ranks[i]], a, b
                ranks[i] = self.lowest + a
        return ranks

def main(directory, *words):
    manifest = read_manifest(os.path.join(directory, "manifest.json"))
    open_layer = functools.lru_cache(None)(lambda seeds: Layer(directory, manifest, manifest["layers"][seeds]))
    for line in sys.stdin if words == ("-",) else [" ".join(words)]:
        board = [int(word) for word in line.split()]
        solved = len(board) == manifest["pits"] and min(board) >= 0 and sum(board) < len(manifest["layers"])
        check(solved, "not a solved board: " + line.strip())
        rank = sum(math.comb(sum(board[:i + 1]) + i, i + 1) for i in range(len(board) - 1))
        layer = open_layer(sum(board))
        print(layer.block(rank // layer.block_size)[rank % layer.block_size])

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError) as error:
        sys.exit(f"read_layer.py: {error}")
