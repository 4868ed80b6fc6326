"""Solved layers, and boards to look up in them."""
import math
import operator
import os
import re
import reprlib
import threading
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

from . import manifest, rules, source
from .errors import Unsolved, check
from .layer import Layer

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

    Boards = NDArray[numpy.integer[Any]]
try:
    from . import vectors
except ImportError:  # there is no NumPy
    vectors = None  # type: ignore[assignment]

Key = Tuple[int, int]  # seeds and block; of distances ~seeds

TOGETHER = 512  # blocks that are read and decoded at a time
CACHE_BYTES = 1 << 30


class Probe(NamedTuple):
    """What is known about a board.

    value: its score. moves: the score of the board if the mover plays each of his pits, None where that is
    not possible. best: the pits whose moves have that value. children: the boards after the moves, seen by the opponent.
    """

    value: int
    moves: List[Optional[int]]
    best: List[int]
    children: List[Optional[List[int]]]


def open(place: "Union[str, os.PathLike[str]]", *, cache_bytes: int = CACHE_BYTES) -> "Tables":
    """Opens a run directory: a path, or the address of one on a web server, http or https.

    The manifest is read at once, a layer when a board needs it. Blocks that were decoded are kept, the last used
    of cache_bytes. Raises OSError if there is none, Corrupt, ServerError, or ValueError for another address.
    """
    text, cache_bytes = os.fspath(place), _whole(cache_bytes, "cache_bytes")
    scheme = re.match("([A-Za-z][A-Za-z0-9+.-]*)://", text)
    if scheme and scheme[1].lower() not in ("http", "https"):
        raise ValueError("%s is no address of a run directory: http and https are possible" % reprlib.repr(text))
    where: Union[source.Server, source.Directory] = source.Server(text) if scheme else source.Directory(text)
    try:
        return Tables(text, where, cache_bytes)
    except BaseException:
        where.close()
        raise


def _whole(x: Any, what: str) -> int:
    """A whole number from 0 on; what says whose, for the message of the ValueError."""
    try:
        n = -1 if type(x).__name__ in ("bool", "bool_") else operator.index(x)  # which would pass for 0 and 1
    except TypeError:
        n = -1
    if n < 0:
        raise ValueError("%s: %s is no whole number from 0 on" % (what, reprlib.repr(x)))
    return n


class Tables:
    """The solved layers of one game, for any number of threads; open returns one. Pickled, it opens the same place again.

    rules: "awari", "strict" or "abapa". pits: of the whole board. max_seeds: of the largest layer, -1 without any.
    """

    def __init__(self, place: str, where: "Union[source.Server, source.Directory]", cache_bytes: int) -> None:
        self.place, self.where, self.cache_bytes = place, where, cache_bytes
        self.manifest = manifest.parse(where.manifest_name, where.manifest())
        self.rules, self.pits = self.manifest.rules, self.manifest.pits
        self.max_seeds = len(self.manifest.layers) - 1
        self.possible = max(rules.MOST_SEEDS, self.max_seeds)
        self.lock, self.closed = threading.RLock(), False
        self.layers: Dict[int, Layer] = {}
        self.kept: "OrderedDict[Key, memoryview]" = OrderedDict()
        self.kept_bytes = 0
        self.binomials = [[math.comb(m, k) for m in range(self.max_seeds + self.pits)] for k in range(self.pits)]

    def __enter__(self) -> "Tables":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        self._check_open()
        return _reopen, (self.place, self.cache_bytes)

    def close(self) -> None:
        """Closes the files. Whoever asks afterwards gets a ValueError."""
        with self.lock:
            self.closed = True
            for layer in self.layers.values():
                layer.file.close()
            self.layers.clear()
            self.kept.clear()
            self.kept_bytes = 0
            self.where.close()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("the tables are closed")

    def positions(self, seeds: int) -> int:
        """How many boards have so many seeds."""
        seeds = _whole(seeds, "seeds")
        self._check_seeds(seeds)
        return self.manifest.layers[seeds].positions

    @overload
    def rank(self, boards: "Boards") -> "Tuple[NDArray[numpy.int64], NDArray[numpy.int64]]":
        ...

    @overload
    def rank(self, boards: Sequence[int]) -> int:
        ...

    def rank(self, boards: Any) -> Any:
        """The number of a board among those with as many seeds, from 0: the index into read.

        Of a NumPy array with a row for each board: the seeds and the ranks of all, two arrays.
        """
        if vectors is not None and getattr(boards, "ndim", 1) > 1:
            return self._ranked(boards)
        return self._place(boards)[1]

    @overload
    def unrank(self, seeds: int, ranks: int) -> List[int]:
        ...

    @overload
    def unrank(self, seeds: "ArrayLike", ranks: "NDArray[numpy.integer[Any]]") -> "NDArray[numpy.uint8]":
        ...

    def unrank(self, seeds: Any, ranks: Any) -> Any:
        """The board that has a rank among those with so many seeds: what rank turns around.

        NumPy arrays of ranks, and of seeds or one number for all, give an array with a row for each board.
        """
        if vectors is not None and getattr(ranks, "ndim", 0) > 0:
            self._check_open()
            return vectors.unrank(self.binomials, self.max_seeds, seeds, ranks)
        positions, rank = self.positions(seeds), _whole(ranks, "rank")
        if rank >= positions:
            raise ValueError("rank %d: layer %d has the ranks 0 to %d" % (rank, seeds, positions - 1))
        board, left = [0] * self.pits, seeds + self.pits - 1
        for i in range(self.pits - 1, 0, -1):
            c = next(c for c in range(left - 1, -1, -1) if self.binomials[i][c] <= rank)
            rank, board[i], left = rank - self.binomials[i][c], left - c - 1, c
        board[0] = left
        return board

    def _place(self, board: Any) -> Key:
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

    def _place_in_row(self, row: int, board: Any) -> Key:
        try:
            return self._place(board)
        except (ValueError, Unsolved) as error:
            raise type(error)("row %d: %s" % (row, error)) from None

    def _ranked(self, boards: "Boards") -> "Tuple[NDArray[numpy.int64], NDArray[numpy.int64]]":
        """The seeds and the ranks of boards, all of which are solved."""
        seeds = vectors.seeds(boards, self.pits, self.possible)
        self._check_seeds(int(seeds.max(initial=0)))
        return seeds, vectors.rank(self.binomials, boards)

    def score(self, board: Sequence[int]) -> int:
        """The score of a board."""
        seeds, rank = self._place(board)
        block, at = divmod(rank, self._layer(seeds).block_size)
        return next(self._blocks([(seeds, block)]))[1][at]

    def probe(self, board: Sequence[int]) -> Probe:
        """The score of a board, and what its moves lead to. Raises Corrupt too if the score contradicts them."""
        seeds, _ = self._place(board)
        pits = list(map(int, board))
        plays = rules.plays(pits, self.rules)
        children = [play and play.child for play in plays]
        value, *others = self.scores([pits] + [child for child in children if child])
        after = iter(others)
        moves = [play and play.captured - next(after) for play in plays]
        most = max((move for move in moves if move is not None), default=-seeds)
        check(most == value, "the board %s has the score %d, by its moves %d" % (pits, value, most))
        return Probe(value, moves, [pit for pit, move in enumerate(moves) if move == value], children)

    def plies(self, board: Sequence[int]) -> Optional[int]:
        """The plies to the next capture, or to the end of the game, if both keep the score, the player whom it favours hurries and the
        other one delays; 0 if the score is 0. None if they are not known: the manifest lists no distances of the layer."""
        seeds, rank = self._place(board)
        self._check_there(seeds)
        if self.manifest.distances[seeds] is None:
            return None
        block, at = divmod(rank, self._layer(~seeds).block_size)
        return next(self._blocks([(~seeds, block)]))[1][at] & 255

    @overload
    def scores(self, boards: "Boards") -> "NDArray[numpy.int8]":  # type: ignore[misc]
        ...

    @overload
    def scores(self, boards: Iterable[Sequence[int]]) -> List[int]:
        ...

    def scores(self, boards: Any) -> Any:
        """The scores of boards; each block that they need is read and decoded once.

        Boards are sequences of seeds; the scores are a list of numbers. For a NumPy array with a row for each
        board they are a NumPy array of signed bytes. Raises Unsolved and ValueError before it reads anything.
        """
        self._check_open()
        if vectors is not None and hasattr(boards, "ndim"):
            return self._scores_of_array(boards)
        try:
            boards = list(boards)
        except TypeError:
            raise ValueError("%s are no boards: a sequence of them is wanted" % reprlib.repr(boards)) from None
        rows = None if vectors is None else vectors.plain(boards, self.pits, self.max_seeds)
        return self._scores_one_by_one(boards) if rows is None else self._scores_of_array(rows).tolist()

    def _scores_of_array(self, boards: "Boards") -> "NDArray[numpy.int8]":
        return vectors.pick(*self._ranked(boards), lambda n: self._layer(n).block_size, self._blocks)

    def _scores_one_by_one(self, boards: Sequence[Any]) -> List[int]:
        places: "Dict[Key, List[Tuple[int, int]]]" = {}  # where in the answer, and where in the block
        for i, (seeds, rank) in enumerate([self._place_in_row(i, board) for i, board in enumerate(boards)]):
            block, at = divmod(rank, self._layer(seeds).block_size)
            places.setdefault((seeds, block), []).append((i, at))
        out = [0] * sum(map(len, places.values()))
        for key, scores in self._blocks(sorted(places)):
            for i, at in places[key]:
                out[i] = scores[at]
        return out

    def read(self, seeds: int, first: int = 0, count: Optional[int] = None) -> "NDArray[numpy.int8]":
        """The scores of boards with consecutive ranks, all of the layer if nothing is said.

        They are a NumPy array of signed bytes, or array('b') if there is no NumPy.
        """
        out = self._read(seeds, self.positions(seeds), first, count)
        return array("b", bytes(out)) if vectors is None else vectors.signed(out)

    def read_plies(self, seeds: int, first: int = 0, count: Optional[int] = None) -> "Optional[NDArray[numpy.uint8]]":
        """What plies says of boards with consecutive ranks, like read: unsigned bytes, or None."""
        positions = self.positions(seeds)
        self._check_there(seeds)
        if self.manifest.distances[seeds] is None:
            return None
        out = self._read(~operator.index(seeds), positions, first, count)
        return array("B", bytes(out)) if vectors is None else vectors.unsigned(out)

    def _read(self, key: int, positions: int, first: int, count: Optional[int]) -> bytearray:
        """The bytes of consecutive ranks of a file."""
        first = _whole(first, "first")
        count = positions - first if count is None else _whole(count, "count")
        if count < 0 or first + count > positions:
            raise ValueError("layer %d has the ranks 0 to %d" % (max(key, ~key), positions - 1))
        out, size = bytearray(), self._layer(key).block_size
        for (_, block), scores in self._blocks([(key, b) for b in range(first // size, -(-(first + count) // size))] if count else []):
            begin = block * size
            out += scores[max(first - begin, 0):first + count - begin]
        return out

    def _check_seeds(self, seeds: int) -> None:
        self._check_open()
        if seeds > self.possible:
            raise ValueError("%d seeds: a board has at most %d" % (seeds, self.possible))
        if seeds > self.max_seeds:
            raise Unsolved("%d seeds: boards with 0 to %d are solved" % (seeds, self.max_seeds))

    def _check_there(self, seeds: int) -> None:
        if seeds >= 0 and not self.manifest.layers[seeds].file:
            raise Unsolved("%d seeds: the layer is left out of these tables" % seeds)

    def _layer(self, seeds: int) -> Layer:
        """The file of the scores of a layer; for ~seeds of its distances, which are listed."""
        with self.lock:
            self._check_open()
            if seeds not in self.layers:
                entry = self.manifest.layers[seeds] if seeds >= 0 else self.manifest.distances[~seeds]
                assert entry is not None
                self._check_there(seeds)
                file = self.where.open(entry)
                try:
                    self.layers[seeds] = Layer(file, self.manifest, entry)
                except BaseException:
                    file.close()
                    raise
            return self.layers[seeds]

    def _blocks(self, keys: List[Key]) -> Iterator[Tuple[Key, memoryview]]:
        """The scores of blocks, by seeds and number, in their order."""
        for i in range(0, len(keys), TOGETHER):
            some = keys[i:i + TOGETHER]
            with self.lock:
                found = {key: self.kept[key] for key in some if key in self.kept}
            for seeds in sorted({n for n, _ in some}):
                missing = [key for key in some if key[0] == seeds and key not in found]
                if missing:
                    found.update(zip(missing, self._layer(seeds).read([block for _, block in missing])))
            self._keep({key: found[key] for key in some})
            for key in some:
                yield key, found[key]

    def _keep(self, blocks: Dict[Key, memoryview]) -> None:
        """Keeps blocks as those used last."""
        with self.lock:
            for key, scores in blocks.items():
                self.kept_bytes += len(scores) - len(self.kept.pop(key, ()))
                self.kept[key] = scores
            while self.kept_bytes > self.cache_bytes:
                self.kept_bytes -= len(self.kept.popitem(last=False)[1])


def _reopen(place: str, cache_bytes: int) -> Tables:
    return open(place, cache_bytes=cache_bytes)
