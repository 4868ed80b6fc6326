"""Solved layers, and boards to look up in them."""
import json
import math
import operator
import os
import re
import reprlib
import threading
from array import array
from collections import OrderedDict

from . import source
from .checksum import crc32c
from .errors import Corrupt, Unsolved, check
from .layer import Layer

try:
    import numpy
except ImportError:
    numpy = None

TOGETHER = 64  # blocks that are read and decoded at a time
BOOLS = (bool,) if numpy is None else (bool, numpy.bool_)  # which would pass for 0 and 1
KEPT = 256  # blocks that are kept, of 64 KiB at most


def open(place):
    """Opens a run directory: a path, or the address of one on a web server, http or https.

    The manifest is read at once, a layer when a board needs it. Raises OSError if there is none,
    Corrupt, or ServerError.
    """
    text = os.fspath(place)
    where = source.Server(text) if text.lower().startswith(("http://", "https://")) else source.Directory(text)
    try:
        return Tables(where)
    except BaseException:
        where.close()
        raise


def _read_manifest(where):
    """The manifest, checked as docs/format/manifest.md says."""
    name, data = where.manifest_name, where.manifest()
    check(data.startswith(b'{\n  "format": "grenier-manifest",\n'), name + ": not a manifest")
    try:
        manifest = json.loads(data)
    except ValueError as error:
        raise Corrupt("%s: %s" % (name, error)) from None
    check(manifest.get("version") in (1, 2), name + ": unknown version")
    check(data.endswith(b'  "crc32c": "%08x"\n}\n' % crc32c(data[:-25])), name + ": checksum")
    check(manifest.get("game") == "awari", "%s: it lists no layers of awari" % name)
    try:
        pits = manifest["pits"]
        check(pits in range(4, 13, 2) and manifest["rules"] in ("awari", "strict"), name + ": pits or rules that awari does not have")
        for n, entry in enumerate(manifest["layers"]):
            check(entry["seeds"] == n and entry["positions"] == math.comb(pits + n - 1, n), "%s: layer %d" % (name, n))
            check(re.fullmatch("[a-z0-9_-]+[.]gl", entry["file"]) and entry["bytes"] > 0, "%s: file of layer %d" % (name, n))
            check(re.fullmatch("[0-9a-f]{8}", entry["checksum"]) and re.fullmatch("[0-9a-f]{16}", entry["fnv1a64"]), "%s: checksums of layer %d" % (name, n))
            _check_counts(entry, name)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Corrupt("%s: %s" % (name, error)) from None
    return manifest


def _check_counts(entry, name):
    """The counts of scores of a layer, which must add up."""
    n, counts = entry["seeds"], {int(score): count for score, count in entry["histogram"].items()}
    check(all(-n <= score <= n for score in counts), "%s: layer %d has scores beyond the seeds" % (name, n))
    signs = [sum(c for s, c in counts.items() if s > 0), counts.get(0, 0), sum(c for s, c in counts.items() if s < 0)]
    check(signs == [entry["win"], entry["draw"], entry["loss"]] and sum(signs) == entry["positions"] and min(counts.values()) > 0,
          "%s: counts of layer %d" % (name, n))


def _whole(x, what):
    """A whole number from 0 on; what says whose, for the message of the ValueError."""
    try:
        n = -1 if isinstance(x, BOOLS) else operator.index(x)
    except TypeError:
        n = -1
    if n < 0:
        raise ValueError("%s: %s is no whole number from 0 on" % (what, reprlib.repr(x)))
    return n


class Tables:
    """The solved layers of one game, for any number of threads; open returns one.

    rules: "awari" or "strict". pits: of the whole board. max_seeds: of the largest layer, -1 without any.
    """

    def __init__(self, where):
        self.where, self.manifest = where, _read_manifest(where)
        self.rules, self.pits = self.manifest["rules"], self.manifest["pits"]
        self.max_seeds = len(self.manifest["layers"]) - 1
        self.lock = threading.RLock()
        self.layers, self.kept = {}, OrderedDict()  # by seeds; by seeds and block
        self.binomials = [[math.comb(m, k) for m in range(self.max_seeds + self.pits)] for k in range(self.pits)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the files."""
        with self.lock:
            for layer in self.layers.values():
                layer.file.close()
            self.layers.clear()
            self.where.close()

    def positions(self, seeds):
        """How many boards have so many seeds."""
        seeds = _whole(seeds, "seeds")
        self._check_seeds(seeds)
        return self.manifest["layers"][seeds]["positions"]

    def rank(self, board):
        """The number of a board among those with as many seeds, from 0."""
        return self._place(board)[1]

    def _place(self, board):
        """The seeds and the rank of a board, which may be any sequence of whole numbers."""
        try:
            pits = list(board[:])  # which neither sets nor iterators have
        except (TypeError, LookupError):
            raise ValueError("%s is no board: a sequence of %d numbers of seeds is wanted" % (reprlib.repr(board), self.pits)) from None
        if len(pits) != self.pits:
            raise ValueError("%s is no board: it has %d pits, %d are wanted" % (reprlib.repr(board), len(pits), self.pits))
        if set(map(type, pits)) != {int} or min(pits) < 0:  # the usual board passes quickly
            pits = [_whole(x, "pit %d of a board" % i) for i, x in enumerate(pits)]
        seeds = sum(pits)
        self._check_seeds(seeds)
        rank = have = 0
        for i in range(self.pits - 1):
            have += pits[i]
            rank += self.binomials[i + 1][have + i]
        return seeds, rank

    def score(self, board):
        """The score of a board."""
        return self.scores([board])[0]

    def scores(self, boards):
        """The scores of boards; each block that they need is read and decoded once.

        Boards are sequences of seeds; the scores are a list of numbers. For a NumPy array with a row for each
        board they are a NumPy array of signed bytes. Raises Unsolved and ValueError before it reads anything.
        """
        if numpy is not None and isinstance(boards, numpy.ndarray):
            return self._scores_of_array(boards)
        try:
            boards = iter(boards)
        except TypeError:
            raise ValueError("%s are no boards: a sequence of them is wanted" % reprlib.repr(boards)) from None
        places = {}  # by seeds and block: where in the answer, and where in the block
        for i, (seeds, rank) in enumerate([self._place(board) for board in boards]):
            block, at = divmod(rank, self._block_size(seeds))
            places.setdefault((seeds, block), []).append((i, at))
        out = [0] * sum(map(len, places.values()))
        for key, scores in self._blocks(sorted(places)):
            for i, at in places[key]:
                out[i] = scores[at]
        return out

    def _scores_of_array(self, boards):
        if boards.ndim != 2 or boards.shape[1] != self.pits or boards.dtype.kind not in "iu":
            raise ValueError("an array of %s with the shape %s is no boards: one of whole numbers with %d columns is wanted" % (boards.dtype, boards.shape, self.pits))
        if len(boards) and boards.min() < 0:
            raise ValueError("a board with fewer than 0 seeds in a pit")
        self._check_seeds(int(boards.max(initial=0)))  # before they are added up, which may be too much for a number
        boards = boards.astype(numpy.int64)
        seeds = boards.sum(axis=1)
        self._check_seeds(int(seeds.max(initial=0)))
        have = boards.cumsum(axis=1)
        rank = numpy.zeros(len(boards), numpy.int64)
        for i in range(self.pits - 1):
            rank += numpy.array(self.binomials[i + 1], numpy.int64)[have[:, i] + i]
        out = numpy.zeros(len(boards), numpy.int8)
        for n in numpy.unique(seeds).tolist():
            rows = numpy.flatnonzero(seeds == n)
            block, at = numpy.divmod(rank[rows], self._block_size(n))
            order = numpy.argsort(block, kind="stable")
            wanted, begin = numpy.unique(block[order], return_index=True)
            groups = numpy.split(order, begin[1:])
            for (key, scores), group in zip(self._blocks([(n, b) for b in wanted.tolist()]), groups):
                out[rows[group]] = numpy.frombuffer(scores, numpy.int8)[at[group]]
        return out

    def read(self, seeds, first=0, count=None):
        """The scores of boards with consecutive ranks, all of the layer if nothing is said, as array('b')."""
        positions, first = self.positions(seeds), _whole(first, "first")
        count = positions - first if count is None else _whole(count, "count")
        if count < 0 or first + count > positions:
            raise ValueError("layer %d has the ranks 0 to %d" % (seeds, positions - 1))
        out, size = array("b"), self._block_size(seeds)
        for (_, block), scores in self._blocks([(seeds, b) for b in range(first // size, -(-(first + count) // size))] if count else []):
            begin = block * size
            out += scores[max(first - begin, 0):first + count - begin]
        return out

    def _check_seeds(self, seeds):
        if not 0 <= seeds <= self.max_seeds:
            raise Unsolved("%d seeds: boards with 0 to %d are solved" % (seeds, self.max_seeds))

    def _layer(self, seeds):
        with self.lock:
            if seeds not in self.layers:
                entry = self.manifest["layers"][seeds]
                file = self.where.open(entry)
                try:
                    self.layers[seeds] = Layer(file, self.manifest, entry)
                except BaseException:
                    file.close()
                    raise
            return self.layers[seeds]

    def _block_size(self, seeds):
        return self._layer(seeds).block_size

    def _blocks(self, keys):
        """The scores of blocks, by seeds and number, in their order."""
        for i in range(0, len(keys), TOGETHER):
            some = keys[i:i + TOGETHER]
            with self.lock:
                found = {key: self.kept[key] for key in some if key in self.kept}
            for seeds in sorted({n for n, _ in some}):
                missing = [key for key in some if key[0] == seeds and key not in found]
                if missing:
                    found.update(zip(missing, self._layer(seeds).read([block for _, block in missing])))
            with self.lock:
                for key in some:
                    self.kept[key] = found[key]
                    self.kept.move_to_end(key)
                while len(self.kept) > KEPT:
                    self.kept.popitem(last=False)
            for key in some:
                yield key, found[key]
