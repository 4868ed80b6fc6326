"""Tests of the reader, on files of their own: python3 -m unittest discover -s tests -t ."""
import collections
import contextlib
import http.server
import io
import itertools
import json
import math
import os
import pickle
import random
import re
import shutil
import struct
import tempfile
import threading
import unittest
from unittest import mock

import grenier
from grenier import __main__, checksum, codec, layer, rules, source

try:
    import numpy
    from grenier import vectors
except ImportError:
    numpy = None
with_numpy = unittest.skipIf(numpy is None, "there is no NumPy")


def seal(body):
    """Adds the checksum of a part of a file."""
    return body + struct.pack("<I", checksum.crc32c(body))


def fnv(data):
    """The hash of scores as bytes."""
    h = 1469598103934665603
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return h


def layer_file(pits, seeds, scores, block_size, model=b"", below=b"", number=None, rules=b"awari", game=b"awari"):
    """A layer file with plain blocks, and its entry in the manifest. below are the entries of the layers below, number
    how many the header says there are."""
    count = -(-len(scores) // block_size)
    number = len(below) // 10 if number is None else number
    header = seal(struct.pack("<8sIHH16s16sBBHIQQII", b"\x89GL\r\n\x1a\n\0", 3 if below else 2, pits, seeds, game, rules, 1, 2, number, block_size,
                              len(scores), count, len(model), checksum.crc32c(below + model)))
    header += below
    blocks, index, at = b"", b"", len(header) + len(model)
    for i in range(count):
        block = struct.pack("%db" % len(scores[i * block_size:(i + 1) * block_size]), *scores[i * block_size:(i + 1) * block_size])
        code = checksum.crc32c(block)
        index += struct.pack("<QIIII", at, len(block), 1, code, code)
        blocks, at = blocks + block, at + len(block)
    signs = [sum(s > 0 for s in scores), sum(s == 0 for s in scores), sum(s < 0 for s in scores)]
    footer = seal(struct.pack("<QQIIQQQQQ", at, len(index), checksum.crc32c(index), struct.unpack("<I", header[80:84])[0], fnv(struct.pack("%db" % len(scores), *scores)), *signs, at + len(index) + 76))
    name = "layer-%02d.gl" % seeds
    entry = {"seeds": seeds, "positions": len(scores), "file": name, "bytes": at + len(index) + 76,
             "checksum": "%08x" % struct.unpack("<I", footer[-4:])[0], "fnv1a64": "%016x" % struct.unpack("<Q", footer[24:32])[0],
             "win": signs[0], "draw": signs[1], "loss": signs[2], "histogram": {str(s): n for s, n in sorted(collections.Counter(scores).items())}}
    return header + model + blocks + index + footer + b"\0LGend\r\n", entry


def manifest_of(pits, entries, **more):
    return sealed({"format": "grenier-manifest", "version": 1, "game": "awari", "rules": "awari", "pits": pits, "layers": entries, **more})


def sealed(fields):
    text = json.dumps(fields, indent=2)
    body = text[:-2].encode() + b",\n"
    return body + b'  "crc32c": "%08x"\n}\n' % checksum.crc32c(body)


def write(directory, name, data):
    with open(os.path.join(directory, name), "wb") as file:
        file.write(data)


PITS, SEEDS, BLOCK = 4, 90, 64  # layer 90 has 129,766 positions and 2,028 blocks: parts of an index


class Run(unittest.TestCase):
    """A run directory with some layers of random scores, and others of zeros, made once."""

    dir, layers, entries = None, {}, []

    @classmethod
    def setUpClass(cls):
        cls.random = random.Random(7)
        if Run.dir is not None:
            return
        Run.dir = tempfile.mkdtemp()
        unittest.addModuleCleanup(shutil.rmtree, Run.dir)
        entries = Run.entries
        for n in range(SEEDS + 1):
            positions = math.comb(PITS + n - 1, n)
            scores = [cls.random.randint(-min(n, 90), min(n, 90)) for _ in range(positions)] if n in (0, 7, 40, SEEDS) else [0] * positions
            data, entry = layer_file(PITS, n, scores, BLOCK)
            cls.layers[n] = scores
            entries.append(entry)
            write(cls.dir, entry["file"], data)
        write(cls.dir, "manifest.json", manifest_of(PITS, entries))

    def board(self, seeds):
        cuts = sorted(self.random.choices(range(seeds + 1), k=PITS - 1))
        return [b - a for a, b in zip([0] + cuts, cuts + [seeds])]

    def boards(self, n=500):
        return [self.board(self.random.choice((0, 7, 40, SEEDS))) for _ in range(n)]

    def want(self, tables, boards):
        return [self.layers[sum(b)][tables.rank(b)] for b in boards]


class TestParts(unittest.TestCase):
    def test_crc(self):
        self.assertEqual(checksum.crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(checksum.crc32c(b""), 0)

    def test_crc_of_many_bytes(self):
        """What is folded has the remainder that the definition gives."""
        data = bytes(random.Random(1).choices(range(256), k=100_000))
        for n in (4, 124, 125, 126, 127, 289, 290, 1000, 1694, 1695, 6777, 6778, 13071, 65536, 100_000):
            with mock.patch.object(checksum, "FEW", 8 * n):
                want = checksum.crc32c(data[:n])
            self.assertEqual(checksum.crc32c(data[:n]), want, n)

    @with_numpy
    def test_crc_by_numpy(self):
        data = bytes(random.Random(2).choices(range(256), k=90_000))
        for sizes in ((65536,) * 40, (70_000, 20_000, 4, 6777, 6778), (9000, 3), (5, 9), (1,)):
            pieces = [data[i:i + n] for i, n in enumerate(sizes)]
            self.assertEqual(vectors.crcs(pieces), checksum.crcs(pieces), sizes)

    def test_lz4(self):
        self.assertEqual(codec.lz4(b"\x30abc", 3), b"abc")
        self.assertEqual(codec.lz4(b"\x10a\x01\x00\x10b", 6), b"aaaaab")  # the match overlaps itself
        self.assertEqual(codec.lz4(b"\x32abc\x03\x00\x00", 9), b"abcabcabc")
        self.assertEqual(codec.lz4(b"\xf0\x05" + b"x" * 20, 20), b"x" * 20)
        self.assertEqual(codec.lz4(b"\x1fa\x01\x00\x05\x10b", 26), b"a" * 25 + b"b")
        for bad in (b"\x30ab", b"\x10a\x02\x00\x10b", b"\x10a\x00\x00\x10b", b"\x10a\x01", b"\xf0", b"\x1fa\x01\x00\xff"):
            with self.assertRaises((grenier.Corrupt, IndexError), msg=bad):
                codec.lz4(bad, 100)
        with self.assertRaises(grenier.Corrupt):
            codec.lz4(b"\x1fa\x01\x00\xff\xff\x00\x10b", 100)  # more than there may be

    def test_ranks(self):
        self.assertEqual(codec.ranks(bytes.fromhex("16320200"), 6), [0, 3, 1, 0, 5, 2])
        for bad in ("1632", "1632020000", ""):
            with self.assertRaises(grenier.Corrupt):
                codec.ranks(bytes.fromhex(bad), 6)

    @with_numpy
    def test_many_blocks(self):
        """NumPy decodes as the definition does, with lanes of any length."""
        chance = random.Random(3)
        data = b"\xfd\x07" + bytes(chance.sample(range(7), 7)) + b"".join(
            bytes([k]) + bytes(chance.sample(range(7), k)) for k in (chance.randint(0, 7) for _ in range(49)))
        model = codec.Model(data)
        blocks = [[chance.randint(0, 6) for _ in range(n)] for n in (1, 5, 6, 7, 11, 64, 100, 1001)]
        codes = []
        for ranks in blocks:
            rows, left = [[r & 1 for r in ranks]], [r >> 1 for r in ranks]
            while left:
                rows.append([int(r > 0) for r in left])
                left = [r - 1 for r in left if r > 0]
            codes.append(b"".join(sum(bit << i for i, bit in enumerate(v)).to_bytes((len(v) + 7) // 8, "little") for v in rows))
        want = [model.scores(list(ranks)) for ranks in blocks]
        self.assertEqual(codec.decode(model, codes, [len(r) for r in blocks]), want)
        self.assertEqual(vectors.decode(model, codes, [len(r) for r in blocks]), want)
        for code, ranks, scores in zip(codes, blocks, want):
            self.assertEqual(codec.ranks(code, len(ranks)), ranks)
            self.assertEqual(vectors.ranks(code, len(ranks)).tolist(), ranks)
            self.assertEqual(vectors.decode(model, [code], [len(ranks)]), [scores])
        for bad in (codes[3][:-1], codes[3] + b"\0", b"\xff" * 300, b""):
            for decode in (codec.decode, vectors.decode):
                with self.assertRaises(grenier.Corrupt):
                    decode(model, [bad], [7])


class TestLayer(unittest.TestCase):
    def test_golden(self):
        """A compressed block, byte by byte as the format page has it."""
        model = codec.Model(bytes.fromhex("fe0602000103040501020001020000000000000000000000" "02020000000000000000000000000000" "0000000000000000"))
        stored = bytes.fromhex("f003190000000000008017000000000000000c00")
        code = codec.lz4(stored, 64)
        self.assertEqual(model.scores(codec.ranks(code, 64)).tolist(), [1, -1, 2, -2, 3] + [0] * 58 + [-2])

    def test_bad_models(self):
        for bad in ("", "fe", "fe00", "fe0200", "fe020001", "fe020000" "00000000", "fe020001" "00000000" "00", "fe020001" "0300010000", "fe020001" "02010100000000", "7f020001" "00000000"):
            with self.assertRaises(grenier.Corrupt, msg=bad):
                codec.Model(bytes.fromhex(bad))


class TestTables(Run):
    def test_scores(self):
        with grenier.open(self.dir) as tables:
            self.assertEqual((tables.rules, tables.pits, tables.max_seeds), ("awari", PITS, SEEDS))
            boards = self.boards()
            self.assertEqual(tables.scores(boards), self.want(tables, boards))
            self.assertEqual([tables.score(b) for b in boards[:50]], self.want(tables, boards[:50]))
            self.assertEqual(tables.scores([]), [])
            kinds = [list, tuple, bytes, bytearray, collections.UserList, lambda b: memoryview(bytes(b))]
            self.assertEqual(tables.scores(kinds[i % 6](b) for i, b in enumerate(boards)), self.want(tables, boards))
            self.assertTrue(all(type(score) is int for score in tables.scores(boards[:9])))

    def test_once(self):
        """Each block is decoded once, however often it is needed."""
        with grenier.open(self.dir) as tables:
            boards = [self.board(40) for _ in range(3000)]
            with mock.patch.object(layer.Layer, "read", autospec=True, side_effect=layer.Layer.read) as read:
                tables.scores(boards)
            blocks = [b for call in read.call_args_list for b in call[0][1]]
            self.assertEqual(sorted(blocks), sorted({tables.rank(b) // BLOCK for b in boards}))

    def test_read(self):
        with grenier.open(self.dir) as tables:
            for n in (0, 7, SEEDS):
                self.assertEqual(tables.read(n).tolist(), self.layers[n])
            self.assertEqual(tables.read(40, 60, 70).tolist(), self.layers[40][60:130])
            self.assertEqual(tables.read(40, 64, 0).tolist(), [])
            for first, count in ((-1, 1), (0, 999999), (0, -1)):
                with self.assertRaises(ValueError):
                    tables.read(7, first, count)

    def test_rank(self):
        with grenier.open(self.dir) as tables:
            boards = [(a, b, c, 7 - a - b - c) for a in range(8) for b in range(8 - a) for c in range(8 - a - b)]
            self.assertEqual(sorted(map(tables.rank, boards)), list(range(120)))
            self.assertEqual((tables.rank([0, 0, 0, 7]), tables.rank([7, 0, 0, 0])), (0, 119))

    def test_nonsense(self):
        with grenier.open(self.dir) as tables:
            sequence = "a sequence of 4 numbers"
            for board, word in (([], "0 pits, 4 are"), ([1, 2, 3], "3 pits"), ([1, 2, 3, 4, 5], "5 pits"), ([1, -1, 1, 1], "pit 1 of a board: -1 is no whole"),
                                ([0.5, 0.5, 1, 1], "pit 0 .*0.5"), ([1.0, 1, 1, 1], "pit 0 .*1.0"), ([1, float("nan"), 1, 1], "pit 1 .*nan"),
                                ([1, float("inf"), 1, 1], "inf"), ([1, 1, True, 1], "pit 2 .*True"), (["1"] * 4, "pit 0 .*'1'"), ("1111", "pit 0 .*'1'"),
                                ([None] * 4, "pit 0 .*None"), ([[1, 1, 1, 1]] * 4, r"pit 0 .*\[1, 1, 1, 1\]"), (None, "None.*" + sequence), (4, sequence),
                                ({0, 1, 2, 3}, sequence), ({"a": 1, "b": 1, "c": 1, "d": 1}, sequence), ((x for x in (1, 1, 1, 1)), sequence)):
                for look_up in (tables.score, tables.rank, lambda b: tables.scores([[1, 1, 1, 1], b])):
                    with self.assertRaisesRegex(ValueError, word, msg=board):
                        look_up(board)
            self.assertEqual(tables.layers, {})  # nothing was read
            for boards in (None, 1, [1, 1, 1, 1], "1111", "x"):
                with self.assertRaises(ValueError, msg=boards):
                    tables.scores(boards)
            for seeds, first, count in (("7", 0, 1), (7.0, 0, 1), (True, 0, 1), (-1, 0, 1), (7, None, 1), (7, 0.0, 1), (7, 0, "1")):
                with self.assertRaises(ValueError, msg=(seeds, first, count)):
                    tables.read(seeds, first, count)
            self.assertEqual(tables.score(bytes([0, 0, 3, 4])), tables.score([0, 0, 3, 4]))
            for board in ([SEEDS, 1, 0, 0], [10**9, 0, 0, 0], [2**64 - 1, 1, 0, 0]):
                with self.assertRaisesRegex(ValueError, "a board has at most 90"):
                    tables.score(board)
        with self.assertRaisesRegex(ValueError, "row 2: 49 seeds: a board has at most 48"):
            self.few().scores([[0, 0, 0, 1], [7, 0, 0, 0], [49, 0, 0, 0]])
        with self.assertRaisesRegex(grenier.Unsolved, "row 1: 8 seeds: boards with 0 to 7 are solved"):
            self.few().scores([[0, 0, 0, 1], [8, 0, 0, 0]])
        for place in ("ftp://host/awari", "file:///awari", "s3://bucket"):
            with self.assertRaisesRegex(ValueError, "http and https are possible"):
                grenier.open(place)

    @with_numpy
    def test_array(self):
        with grenier.open(self.dir) as tables:
            boards = self.boards(5000)
            got = tables.scores(numpy.array(boards, numpy.uint8))
            self.assertEqual((got.dtype, got.tolist()), (numpy.int8, self.want(tables, boards)))
            self.assertEqual(tables.scores(numpy.zeros((0, PITS), int)).tolist(), [])
            for bad in (numpy.zeros(4, int), numpy.zeros((2, 5), int), numpy.zeros((2, 4)), numpy.full((1, 4), -1), numpy.zeros((2, 4), bool),
                        numpy.zeros((1, 2, 4), int), numpy.array(4), numpy.array([["1"] * 4]), numpy.array([[None] * 4])):
                with self.assertRaises(ValueError):
                    tables.scores(bad)
            for bad in (numpy.zeros((4, 4), int), numpy.zeros((1, 4), int), numpy.zeros(5, int), numpy.zeros(4), numpy.zeros(4, bool), numpy.array(4)):
                with self.assertRaises(ValueError):
                    tables.score(bad)
            self.assertEqual(tables.score(numpy.zeros(4, numpy.uint8)), tables.score([0, 0, 0, 0]))
        with self.assertRaisesRegex(grenier.Unsolved, "8 seeds: boards with 0 to 7 are solved"):
            self.few().scores(numpy.array([[8, 0, 0, 0]]))

    @with_numpy
    def test_impossible_rows(self):
        """Boards that cannot be, some of which wrap around to others that can."""
        with grenier.open(self.dir) as tables:
            for board, kind in (([3, 2**64 - 1, 1, 0], numpy.uint64), ([2**64 - 1, 1, 0, 0], numpy.uint64), ([2**63 - 1, 2**63 - 1, 2, 0], numpy.int64),
                                ([-1, 1, 1, 0], numpy.int8), ([-2**63, 0, 0, 0], numpy.int64), ([2**62] * 4, numpy.int64), ([64] * 4, numpy.uint8), ([255, 1, 0, 0], numpy.uint8),
                                ([91, 0, 0, 0], numpy.int16), ([30, 30, 30, 1], numpy.int8), ([2**32 - 1, 1, 0, 0], numpy.uint32)):
                rows = numpy.array([[0, 0, 0, 0], [1, 2, 3, 1], board, board], kind)
                for look_up in (tables.scores, tables.rank):
                    with self.assertRaisesRegex(ValueError, r"^row 2: \[.*\]: ", msg=board):
                        look_up(rows)
                with self.assertRaisesRegex(ValueError, "row 2: "):
                    tables.scores(rows.tolist())

    @with_numpy
    def test_ranks(self):
        """Arrays have the numbers that one board after the other has, and they turn around."""
        with grenier.open(self.dir) as tables:
            boards = numpy.array(self.boards(3000), numpy.int8)
            seeds, ranks = tables.rank(boards)
            self.assertEqual((seeds.dtype, seeds.tolist()), (numpy.int64, boards.sum(axis=1).tolist()))
            self.assertEqual(ranks.tolist(), [tables.rank(b) for b in boards.tolist()])
            again = tables.unrank(seeds, ranks)
            self.assertEqual((again.dtype, again.tolist()), (numpy.uint8, boards.tolist()))
            self.assertEqual(tables.unrank(7, numpy.arange(120)).tolist(), [tables.unrank(7, r) for r in range(120)])
            self.assertEqual(tables.unrank(7, numpy.arange(0)).shape, (0, PITS))
            for bad in ((7, numpy.array([0, 120])), (7, numpy.array([-1])), (-1, numpy.array([0])), (numpy.array([7, 7]), numpy.array([0])), (7, numpy.array([0.0])),
                        (7.0, numpy.array([0])), (7, numpy.array([[0]])), (7, numpy.array([2**63], numpy.uint64)), (7, numpy.array([True]))):
                with self.assertRaises(ValueError, msg=bad):
                    tables.unrank(*bad)
            with self.assertRaises(grenier.Unsolved):
                tables.unrank(numpy.array([7, SEEDS + 1]), numpy.array([0, 0]))

    @with_numpy
    def test_read_gives_numpy(self):
        with grenier.open(self.dir) as tables:
            got = tables.read(40)
            self.assertEqual((type(got), got.dtype, got.tolist()), (numpy.ndarray, numpy.int8, self.layers[40]))

    def few(self):
        """Tables of layers 0 to 7 only."""
        run = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, run)
        for n in range(8):
            shutil.copy(os.path.join(self.dir, "layer-%02d.gl" % n), run)
        write(run, "manifest.json", manifest_of(PITS, self.entries[:8]))
        tables = grenier.open(run)
        self.addCleanup(tables.close)
        return tables

    def test_unrank(self):
        with grenier.open(self.dir) as tables:
            for n in (0, 1, 7):
                for rank in range(tables.positions(n)):
                    board = tables.unrank(n, rank)
                    self.assertEqual((sum(board), tables.rank(board)), (n, rank))
            for seeds, rank in ((7, 120), (7, -1), (7, 1.0), (-1, 0), (7, None), (True, 0)):
                with self.assertRaises(ValueError, msg=(seeds, rank)):
                    tables.unrank(seeds, rank)

    def test_cache(self):
        """As many bytes as were asked for are kept, and what is kept is not read again."""
        boards = [self.board(SEEDS) for _ in range(3000)]
        blocks = {}
        for most in (0, 500, 10_000, 1 << 30):
            with grenier.open(self.dir, cache_bytes=most) as tables, \
                    mock.patch.object(layer.Layer, "read", autospec=True, side_effect=layer.Layer.read) as read:
                want = tables.scores(boards)
                self.assertLessEqual(sum(map(len, tables.kept.values())), most)
                self.assertEqual(sum(map(len, tables.kept.values())), tables.kept_bytes)
                read.reset_mock()
                self.assertEqual(tables.scores(boards), want)
                blocks[most] = sum(len(call[0][1]) for call in read.call_args_list)
        self.assertGreater(blocks[0], 1000)
        self.assertEqual(blocks[1 << 30], 0)
        for bad in (-1, 1.5, None, True, "1"):
            with self.assertRaises(ValueError, msg=bad):
                grenier.open(self.dir, cache_bytes=bad)

    def test_closed(self):
        tables, board = grenier.open(self.dir), self.board(7)
        tables.score(board)
        tables.close()
        tables.close()
        calls = [lambda: tables.score(board), lambda: tables.scores([board]), lambda: tables.scores([]), lambda: tables.read(7), lambda: tables.rank(board),
                 lambda: tables.probe(board), lambda: tables.unrank(7, 0), lambda: tables.positions(7), lambda: pickle.dumps(tables)]
        if numpy is not None:
            calls += [lambda: tables.scores(numpy.array([board])), lambda: tables.rank(numpy.array([board])), lambda: tables.unrank(7, numpy.array([0]))]
        for call in calls:
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    def test_pickle(self):
        with grenier.open(self.dir, cache_bytes=12345) as tables:
            board = self.board(40)
            with pickle.loads(pickle.dumps(tables)) as again:
                self.assertEqual((again.score(board), again.cache_bytes), (tables.score(board), 12345))

    def test_threads(self):
        with grenier.open(self.dir) as tables:
            boards, wrong = self.boards(2000), []
            want = self.want(tables, boards)
            threads = [threading.Thread(target=lambda: wrong.append(1) if tables.scores(boards) != want else None) for _ in range(6)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(wrong, [])

    def test_elsewhere(self):
        """A layer in another directory, and one whose directory is not there any more."""
        with tempfile.TemporaryDirectory() as run, tempfile.TemporaryDirectory() as other:
            for name in os.listdir(self.dir):
                shutil.copy(os.path.join(self.dir, name), run)
            shutil.move(os.path.join(run, "layer-07.gl"), other)
            entries = [{**e, "directory": other if e["seeds"] == 7 else "/nowhere/at/all"} for e in self.entries]
            write(run, "manifest.json", manifest_of(PITS, entries, version=2))
            with grenier.open(run) as tables:
                self.assertEqual(tables.read(7).tolist(), self.layers[7])
                self.assertEqual(tables.read(40).tolist(), self.layers[40])

    def distances(self, directory, seeds, plies, of, **more):
        """Writes distances of a layer that were made from scores with a hash; returns its entry, and theirs."""
        data, made = layer_file(PITS, seeds, [p - 256 if p > 127 else p for p in plies], BLOCK, below=struct.pack("<HQ", seeds, int(of, 16)), game=b"awari-distances")
        write(directory, "distance-%02d.gd" % seeds, data)
        return {**self.entries[seeds], "distances": {**{key: made[key] for key in ("fnv1a64", "bytes", "checksum")}, **more}}

    def test_plies(self):
        plies = [0 if score == 0 else self.random.randint(1, 255) for score in self.layers[40]]
        with tempfile.TemporaryDirectory() as run:
            for name in os.listdir(self.dir):
                shutil.copy(os.path.join(self.dir, name), run)
            listed = self.distances(run, 40, plies, self.entries[40]["fnv1a64"])
            write(run, "manifest.json", manifest_of(PITS, self.entries[:40] + [listed], version=3))
            with grenier.open(run) as tables:
                for _ in range(300):
                    board = self.board(40)
                    rank = tables.rank(board)
                    self.assertEqual((tables.plies(board), tables.score(board)), (plies[rank], self.layers[40][rank]))
                self.assertEqual(list(tables.read_plies(40, 100, 500)), plies[100:600])
                self.assertEqual(list(tables.read_plies(40)), plies)
                self.assertIsNone(tables.plies(self.board(7)))
                self.assertIsNone(tables.read_plies(7))
                with self.assertRaisesRegex(ValueError, "layer 40 has the ranks"):
                    tables.read_plies(40, 0, len(plies) + 1)
                with self.assertRaises(grenier.Unsolved):
                    tables.plies(self.board(41))
            for of, more, word in (("1" * 16, {}, "distances of other scores"), (self.entries[40]["fnv1a64"], {"checksum": "00000000"}, "not the file"),
                                   (self.entries[40]["fnv1a64"], {"bytes": 0}, "distances of layer 40"), (self.entries[40]["fnv1a64"], None, "distances of layer 40")):
                entry = {**listed, "distances": 5} if more is None else self.distances(run, 40, plies, of, **more)
                write(run, "manifest.json", manifest_of(PITS, self.entries[:40] + [entry], version=3))
                with self.assertRaisesRegex(grenier.Corrupt, word), grenier.open(run) as tables:
                    tables.plies(self.board(40))
            write(run, "manifest.json", manifest_of(PITS, self.entries[:40] + [listed], version=3))
            os.remove(os.path.join(run, "distance-40.gd"))
            with self.assertRaises(FileNotFoundError), grenier.open(run) as tables:
                tables.plies(self.board(40))

    def test_damage(self):
        """Any byte of a layer file that changes is noticed."""
        with tempfile.TemporaryDirectory() as run:
            shutil.copy(os.path.join(self.dir, "manifest.json"), run)
            with open(os.path.join(self.dir, "layer-07.gl"), "rb") as file:
                intact = file.read()
            unused = range(len(intact) - 76 + 24, len(intact) - 76 + 32)
            for at in range(len(intact)):
                data = bytearray(intact)
                data[at] ^= 1 << self.random.randrange(8)
                write(run, "layer-07.gl", data)
                with grenier.open(run) as tables, self.assertRaises(grenier.Corrupt, msg=(at, at in unused)):
                    tables.read(7)
            for size in (0, 10, 84, len(intact) - 1):
                write(run, "layer-07.gl", intact[:size])
                with grenier.open(run) as tables, self.assertRaises(grenier.Corrupt):
                    tables.read(7)

    def open_changed(self, data, entry):
        """The scores of layer 7, with another file and entry of it."""
        with tempfile.TemporaryDirectory() as run:
            write(run, "layer-07.gl", data)
            write(run, "manifest.json", manifest_of(PITS, self.entries[:7] + [entry]))
            with grenier.open(run) as tables:
                return tables.read(7).tolist()

    def test_layers_below(self):
        """A file that names the layers below has the same scores, with and without a model."""
        scores, below = self.layers[7], b"".join(struct.pack("<HQ", n, n ** 20) for n in (3, 5))
        model = bytes.fromhex("fe0602000103040501020001020000000000000000000000" "02020000000000000000000000000000" "0000000000000000")
        for more in (b"", model):
            data, entry = layer_file(PITS, 7, scores, BLOCK, more, below)
            self.assertEqual(self.open_changed(data, entry), scores)
            for at in range(layer.HEADER, layer.HEADER + len(below)):
                with self.assertRaisesRegex(grenier.Corrupt, "checksum of the model"):
                    self.open_changed(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], entry)
        for below, number, word in ((below, 0, "number of layers below"), (below, 1001, "number of layers below"), (b"", 1, "number of layers below"),
                                    (below, 1000, "length of the model"), (below, 1, "checksum")):
            with self.assertRaisesRegex(grenier.Corrupt, word):
                self.open_changed(*layer_file(PITS, 7, scores, BLOCK, below=below, number=number))

    def test_forged(self):
        """Files whose checksums are right, but not what the manifest says or what can be."""
        scores = self.layers[7]
        data, entry = layer_file(PITS, 7, scores, BLOCK)
        other = [-s for s in scores]
        _, others = layer_file(PITS, 7, other, BLOCK)
        for name in ("checksum", "fnv1a64", "bytes"):
            with self.assertRaisesRegex(grenier.Corrupt, "not the file that the manifest lists"):
                self.open_changed(data, {**entry, name: 1 if name == "bytes" else others[name]})
        counts = {name: others[name] for name in ("win", "draw", "loss", "histogram")}
        self.assertNotEqual(counts["win"], entry["win"])
        with self.assertRaisesRegex(grenier.Corrupt, "not the file that the manifest lists"):
            self.open_changed(data, {**entry, **counts})
        for score in (8, -8, -128):
            data, forged = layer_file(PITS, 7, [score] + scores[1:], BLOCK)
            with self.assertRaisesRegex(grenier.Corrupt, "layer 7: scores beyond the seeds"):
                self.open_changed(data, forged)
            _, entry = layer_file(PITS, 7, [7 if score > 0 else -7] + scores[1:], BLOCK)
            with self.assertRaisesRegex(grenier.Corrupt, "block 0: a score beyond the seeds"):
                self.open_changed(data, {**forged, "histogram": entry["histogram"]})

    def test_left_out(self):
        """A layer that is left out is not solved, and the one above it is the last."""
        left = {**self.entries[2], "positions": 0, "win": 0, "draw": 0, "loss": 0, "histogram": {}, "file": "", "bytes": 0}
        with tempfile.TemporaryDirectory() as run:
            write(run, "manifest.json", manifest_of(PITS, [*self.entries[:2], left, self.entries[3]], version=4))
            with grenier.open(run) as tables:
                self.assertEqual((tables.max_seeds, tables.positions(2)), (3, self.entries[2]["positions"]))
                with self.assertRaisesRegex(grenier.Unsolved, "2 seeds: the layer is left out"):
                    tables.score([1, 1] + [0] * (PITS - 2))
                with self.assertRaises(grenier.Unsolved):
                    tables.read(2)
                for plies in (lambda: tables.plies([1, 1] + [0] * (PITS - 2)), lambda: tables.read_plies(2)):
                    with self.assertRaises(grenier.Unsolved):
                        plies()

    def test_manifests(self):
        good = manifest_of(PITS, self.entries)
        zero = self.entries[0]
        for bad, word in ((b"{}", "not a manifest"), (good.replace(b'"pits": 4', b'"pits": 6'), "checksum"), (manifest_of(PITS, [], version=5), "version"),
                          (manifest_of(PITS, [], game="chemin"), "awari"), (manifest_of(PITS, [{"seeds": 0}]), "layer 0: positions"), (good[:-1], ""),
                          (manifest_of(PITS, [{**zero, "file": "../layer-00.gl"}]), "layer 0: file"), (manifest_of(PITS, [{**zero, "bytes": "many"}]), "layer 0: bytes"),
                          (manifest_of("x", self.entries), "pits"), (manifest_of(5, []), "pits"), (manifest_of(PITS, [], rules="chess"), "rules"),
                          (manifest_of(PITS, [{**zero, "draw": 2}]), "layer 0: counts"), (manifest_of(PITS, [{**zero, "histogram": {"x": 1}}]), "histogram"),
                          (manifest_of(PITS, [{**zero, "histogram": [1]}]), "histogram"), (manifest_of(PITS, [{**zero, "fnv1a64": "0"}]), "layer 0: fnv1a64")):
            with tempfile.TemporaryDirectory() as run:
                write(run, "manifest.json", bad)
                with self.assertRaisesRegex(grenier.Corrupt, word):
                    grenier.open(run)
        with self.assertRaises(FileNotFoundError):
            grenier.open(os.path.join(self.dir, "nothing"))

    def test_manifests_of_other_types(self):
        """Whatever stands in the place of a field, or if it is missing: Corrupt, or tables that open."""
        odd = (None, True, False, 1.0, math.inf, -math.inf, math.nan, -1, 2**70, "", "x", [], [math.inf, 1], {}, {"0": math.inf}, {"0": None})
        whole = {"version": 1, "game": "awari", "rules": "awari", "pits": PITS, "layers": self.entries[:1]}
        bad = [{**whole, name: value} for name in whole for value in odd]
        bad += [{**whole, "layers": [{**self.entries[0], name: value}]} for name in self.entries[0] for value in odd]
        bad += [{**whole, "layers": [value]} for value in odd]
        bad += [{**whole, "layers": [{k: v for k, v in self.entries[0].items() if k != name}]} for name in self.entries[0]]
        refused = 0
        with tempfile.TemporaryDirectory() as run:
            for fields in bad:
                write(run, "manifest.json", sealed({"format": "grenier-manifest", **fields}))
                try:
                    grenier.open(run).close()
                except grenier.Corrupt:
                    refused += 1
        self.assertGreater(refused, len(bad) - 20)
        with tempfile.TemporaryDirectory() as run:
            write(run, "manifest.json", manifest_of(PITS, []).replace(b"[]", b"[" * 100_000))
            with self.assertRaises(grenier.Corrupt):
                grenier.open(run)


class TestProbe(unittest.TestCase):
    def solved(self, rule_set, seeds, wrong=0):
        """Tables of layers up to seeds, solved here by trying until nothing changes."""
        run = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, run)
        write(run, "manifest.json", manifest_of(PITS, [], rules=rule_set))
        known, entries = {}, []
        for n in range(seeds + 1):
            boards = sorted((b for b in itertools.product(range(n + 1), repeat=PITS) if sum(b) == n), key=lambda b: b[::-1], reverse=True)
            known.update((b, 0) for b in boards)
            changed = True
            while changed:
                new = {b: max((p.captured - known[tuple(p.child)] for p in rules.plays(b, rule_set) if p), default=-n) for b in boards}
                changed = any(known[b] != new[b] for b in boards)
                known.update(new)
            scores = [known[b] for b in boards]
            scores[-1] += wrong if n == seeds else 0
            data, entry = layer_file(PITS, n, scores, BLOCK, rules=rule_set.encode())
            write(run, entry["file"], data)
            entries.append(entry)
        write(run, "manifest.json", manifest_of(PITS, entries, rules=rule_set))
        tables = grenier.open(run)
        self.addCleanup(tables.close)
        return tables, known

    def test_probe(self):
        for rule_set in rules.RULES:
            tables, known = self.solved(rule_set, 3)
            for board, value in known.items():
                got = tables.probe(board)
                self.assertEqual(got.value, value)
                plays = rules.plays(board, rule_set)
                self.assertEqual(got.children, [p and p.child for p in plays])
                self.assertEqual(got.moves, [p and p.captured - known[tuple(p.child)] for p in plays])
                self.assertEqual(got.best, [i for i, move in enumerate(got.moves) if move == value])
        self.assertEqual(tables.probe((0, 0, 0, 1)), grenier.Probe(-1, [None, None], [], [None, None]))

    def test_contradiction(self):
        tables, known = self.solved("awari", 2, wrong=-1)
        with self.assertRaisesRegex(grenier.Corrupt, "by its moves"):
            tables.probe((2, 0, 0, 0))

    def test_moves(self):
        """Sowing passes over the pit it began in, captures run backwards, and nobody may starve without need."""
        self.assertEqual(rules.plays([0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 1], "awari")[5], (4, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        self.assertEqual(rules.plays([5, 0, 0, 1], "awari"), [(2, [0, 2, 0, 2]), None])
        starving = [0, 1, 1, 0]
        self.assertEqual(rules.plays(starving, "awari"), [None, (2, [0, 0, 0, 0])])
        self.assertEqual(rules.plays(starving, "strict"), [None, None])
        self.assertEqual(rules.plays(starving, "abapa"), [None, (0, [2, 0, 0, 0])])
        self.assertEqual(rules.plays([1, 0, 0, 0], "abapa"), [(1, [0, 0, 0, 0]), None])
        self.assertEqual(rules.plays([0, 0, 1, 0], "awari"), [None, None])


class PlainServer(http.server.ThreadingHTTPServer):
    request_queue_size = 64


class Handler(http.server.SimpleHTTPRequestHandler):
    """A plain file server with range requests; trick changes its answers."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        state = self.server.state
        with state["lock"]:
            state["asked"].append((self.path, self.headers.get("Range")))
            trick = state["tricks"].pop(0) if state["tricks"] else state["trick"]
        name = os.path.basename(self.path)
        if trick == "busy":
            self.answer(503, b"busy", {})
            return
        if trick in ("cut", "hang up"):
            if trick == "cut":
                self.send_response(200)
                self.send_header("Content-Length", "100000")
                self.end_headers()
                self.wfile.write(b"{")
            self.close_connection = True
            return
        if trick == "elsewhere":
            self.answer(302, b"", {"Location": "ftp://127.0.0.1/x"})
            return
        path = os.path.join(state["dir"], name)
        if not os.path.exists(path):
            self.answer(404, b"no", {})
            return
        with open(path, "rb") as file:
            data = file.read()
        headers = {"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 1970 00:00:01 GMT"}
        if trick == "replaced":
            headers["ETag"] = '"2"'
        if trick == "weak":
            headers["ETag"] = 'W/"1"'
        if trick == "no validator":
            headers = {}
        if trick == "gzip":
            headers["Content-Encoding"] = "gzip"
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not wanted or trick == "no ranges" or self.headers.get("If-Range", headers.get("ETag")) != headers.get("ETag"):
            self.answer(200, data, headers)
            return
        first, last = map(int, wanted.groups())
        if trick == "shifted":
            first, last = first + 24, last + 24
        total = len(data) + (trick == "longer")
        headers["Content-Range"] = "bytes %d-%d/%d" % (first, last, total)
        if trick == "no content range":
            headers["Content-Range"] = "bytes x"
        self.answer(206, data[first:last + 1], headers)

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)


class TestServer(Run):
    def setUp(self):
        self.server = PlainServer(("127.0.0.1", 0), Handler)
        self.server.state = self.state = {"dir": self.dir, "asked": [], "trick": "", "tricks": [], "lock": threading.Lock()}
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        patch = mock.patch.object(source, "PAUSE", 0.001)
        patch.start()
        self.addCleanup(patch.stop)
        self.url = "http://127.0.0.1:%d/awari" % self.server.server_port

    def test_scores(self):
        with grenier.open(self.url) as tables:
            boards = self.boards()
            self.assertEqual(tables.scores(boards), self.want(tables, boards))
            self.assertEqual(tables.read(SEEDS, 1000, 5000).tolist(), self.layers[SEEDS][1000:6000])
        whole = {path for path, wanted in self.state["asked"] if wanted is None}
        self.assertEqual(whole, {"/awari/manifest.json"})

    def test_requests(self):
        """A batch asks for each block once, for the parts of the index once, and for nothing else."""
        with grenier.open(self.url) as tables:
            boards = [self.board(SEEDS) for _ in range(200)]
            tables.scores(boards)
            blocks = {tables.rank(b) // BLOCK for b in boards}
            file = layer.HEADER + 129766
            inside = [b for b in blocks if layer.HEADER + (b + 1) * BLOCK > source.HEAD]
            self.assertGreater(len(inside), 50)
            asked = len(self.state["asked"])
            # the manifest, the beginning, the index and the footer, or what there is of them
            self.assertEqual(asked, 1 + 1 + 1 + 1 + len(inside), file)
            tables.scores(boards)
            self.assertEqual(len(self.state["asked"]), asked)

    def test_passing_failures(self):
        self.state["tricks"] = ["busy", "cut", "", "hang up", "", "busy", "busy", ""]
        with grenier.open(self.url) as tables:
            self.assertEqual(tables.read(SEEDS, 0, 10).tolist(), self.layers[SEEDS][:10])
        self.state["trick"] = "busy"
        with self.assertRaisesRegex(grenier.ServerError, "after 3 attempts: the server answers 503"):
            grenier.open(self.url)

    def test_bad_servers(self):
        for trick, word in (("no ranges", "ignores range requests"), ("no validator", "neither ETag"), ("gzip", "compresses"), ("shifted", "other bytes"),
                            ("longer", "manifest says"), ("no content range", "which bytes"), ("elsewhere", "redirected from http to ftp")):
            self.state["trick"] = ""
            with grenier.open(self.url) as tables:
                self.state["trick"] = trick
                with self.assertRaisesRegex(grenier.ServerError, word):
                    tables.read(SEEDS, 70000, 10)

    def test_small_file_as_a_whole(self):
        self.state["trick"] = "no ranges"
        with grenier.open(self.url) as tables:
            self.assertEqual(tables.read(7).tolist(), self.layers[7])

    def test_replaced(self):
        with grenier.open(self.url) as tables:
            tables.read(SEEDS, 0, 10)
            self.state["trick"] = "replaced"
            with self.assertRaisesRegex(grenier.ServerError, "was replaced"):
                tables.read(SEEDS, 100000, 10)

    def test_weak_tag(self):
        """Validators that prove nothing: the whole index is read, and compared with its checksum."""
        self.state["trick"] = "weak"
        with mock.patch.object(layer, "WHOLE", 100), grenier.open(self.url) as tables:
            self.assertEqual(tables.read(SEEDS, 100000, 10).tolist(), self.layers[SEEDS][100000:100010])
            self.assertEqual(len(tables.layers[SEEDS].parts), 2)
        self.state["trick"] = ""
        with mock.patch.object(layer, "WHOLE", 100), grenier.open(self.url) as tables:
            self.assertEqual(tables.read(SEEDS, 100000, 10).tolist(), self.layers[SEEDS][100000:100010])
            self.assertEqual(len(tables.layers[SEEDS].parts), 1)

    def test_addresses(self):
        for bad in ("http://", "http://host/?x=1", "http://host/#x"):
            with self.assertRaises(ValueError):
                grenier.open(bad)
        with self.assertRaisesRegex(grenier.ServerError, "404"):
            self.state["dir"] = os.path.join(self.dir, "nothing")
            grenier.open(self.url)
        with self.assertRaises(grenier.ServerError) as raised:
            grenier.open(self.url.replace("http://", "http://me:secret@"))
        self.assertNotIn("secret", str(raised.exception))


class TestCommand(Run):
    def run_it(self, words, stdin=""):
        out, err = io.StringIO(), io.StringIO()
        with mock.patch("sys.argv", ["grenier", *words]), mock.patch("sys.stdin", io.StringIO(stdin)), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = __main__.main()
        return status, out.getvalue(), err.getvalue()

    def test_boards(self):
        board = self.board(40)
        words = " ".join(map(str, board))
        with grenier.open(self.dir) as tables:
            want = "%d\n" % self.want(tables, [board])[0]
        self.assertEqual(self.run_it([self.dir, *words.split()]), (0, want, ""))
        self.assertEqual(self.run_it([self.dir, "-"], (words + "\n") * 3), (0, want * 3, ""))
        lines = "\ufeff# boards\n\n  %s \n%s\r\n\t\n# no more\n%s" % (words, words.replace(" ", ","), words.replace(" ", " , "))
        self.assertEqual(self.run_it([self.dir, "-"], lines), (0, want * 3, ""))
        self.assertEqual(self.run_it([self.dir, words.replace(" ", ",")]), (0, want, ""))

    def test_failures(self):
        self.assertEqual(self.run_it([])[0], 2)
        self.assertEqual(self.run_it([self.dir, "1", "x"])[0], 2)
        self.assertEqual(self.run_it([self.dir, "1", "2"])[0], 2)
        self.assertEqual(self.run_it([self.dir, "99", "0", "0", "0"]), (2, "", "grenier: 99 seeds: a board has at most 90\n"))
        self.assertEqual(self.run_it([self.dir, "-"], "1 0 0 0\n\n99 0 0 0\n"), (2, "", "grenier: of the boards from 0 on, row 1: 99 seeds: a board has at most 90\n"))
        self.assertEqual(self.run_it([self.dir + "/nothing", "1", "0", "0", "0"])[0], 1)


if __name__ == "__main__":
    unittest.main()
