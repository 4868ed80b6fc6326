"""The list of the layers of a run: see docs/format/manifest.md."""
import json
import math
import re
from typing import Any, Dict, List, NamedTuple, Optional

from .checksum import crc32c
from .errors import Corrupt, check
from .rules import RULES


class Entry(NamedTuple):
    """A file of a layer: of its scores, or of distances; scores is the hash of the scores that these were made from, else "".
    directory is another one than that of the list, or "". win, draw and loss are of the layer."""

    seeds: int
    positions: int
    file: str
    directory: str
    bytes: int
    checksum: str
    fnv1a64: str
    win: int
    draw: int
    loss: int
    scores: str = ""


class Manifest(NamedTuple):
    """The rules, the pits of the whole board, the layers from 0 seeds on, and their distances, None where there are none. The
    file of a layer that is left out is ""."""

    rules: str
    pits: int
    layers: List[Entry]
    distances: List[Optional[Entry]]


def parse(name: str, data: bytes) -> Manifest:
    """Reads and checks the bytes of the file of that name."""
    check(data.startswith(b'{\n  "format": "grenier-manifest",\n'), name + ": not a manifest")
    check(data.endswith(b'  "crc32c": "%08x"\n}\n' % crc32c(data[:-25])), name + ": checksum")
    try:
        return _manifest(json.loads(data))
    except (Corrupt, ValueError, RecursionError) as error:
        raise Corrupt("%s: %s" % (name, error)) from None


def _manifest(all: Dict[str, Any]) -> Manifest:
    check(_whole(all, "version") in (1, 2, 3, 4), "unknown version")
    check(_text(all, "game", ".*") == "awari", "it lists no layers of awari")
    pits, rules, layers = _whole(all, "pits"), _text(all, "rules", ".*"), all.get("layers")
    check(pits in range(4, 13, 2) and rules in RULES, "pits or rules that awari does not have")
    check(type(layers) is list, "layers: no list")
    entries = [_entry(pits, n, entry) for n, entry in enumerate(layers or [])]
    return Manifest(rules, pits, entries, [_distances(layer, entry.get("distances")) for layer, entry in zip(entries, layers or [])])


def _distances(layer: Entry, fields: Any) -> Optional[Entry]:
    if fields is None:
        return None
    try:
        check(type(fields) is dict and _whole(fields, "bytes") > 0, "no object with bytes")
        return layer._replace(file="distance-%02d.gd" % layer.seeds, bytes=fields["bytes"], checksum=_text(fields, "checksum", "[0-9a-f]{8}"),
                              fnv1a64=_text(fields, "fnv1a64", "[0-9a-f]{16}"), scores=layer.fnv1a64)
    except Corrupt as error:
        raise Corrupt("distances of layer %d: %s" % (layer.seeds, error)) from None


def _entry(pits: int, n: int, entry: Any) -> Entry:
    try:
        check(type(entry) is dict, "no object")
        positions = _whole(entry, "positions")
        if entry.get("file") == "" and _whole(entry, "seeds") == n and positions == 0:
            return Entry(n, math.comb(pits + n - 1, n), "", "", 0, "", "", 0, 0, 0)
        check(_whole(entry, "seeds") == n and positions == math.comb(pits + n - 1, n), "seeds or positions")
        win, draw, loss = (_whole(entry, sign) for sign in ("win", "draw", "loss"))
        _check_counts(n, entry, [win, draw, loss])
        check(_whole(entry, "bytes") > 0, "no bytes")
        return Entry(n, positions, _text(entry, "file", "[a-z0-9_-]+[.]gl"), _text({"directory": "", **entry}, "directory", ".*"), entry["bytes"],
                     _text(entry, "checksum", "[0-9a-f]{8}"), _text(entry, "fnv1a64", "[0-9a-f]{16}"), win, draw, loss)
    except Corrupt as error:
        raise Corrupt("layer %d: %s" % (n, error)) from None


def _check_counts(n: int, entry: Dict[str, Any], signs: List[int]) -> None:
    """The counts of scores of a layer must add up."""
    histogram = entry.get("histogram")
    check(type(histogram) is dict and all(re.fullmatch("-?[0-9]{1,3}", score) for score in histogram), "histogram")
    counts = {int(score): _whole(histogram, score) for score in histogram or {}}
    check(all(-n <= score <= n for score in counts), "scores beyond the seeds")
    added = [sum(c for s, c in counts.items() if s > 0), counts.get(0, 0), sum(c for s, c in counts.items() if s < 0)]
    check(added == signs and sum(added) == entry["positions"] and 0 not in counts.values(), "counts of scores")


def _whole(fields: Any, name: str) -> int:
    """A whole number from 0 on, which neither true nor 1.0 is."""
    value = fields.get(name)
    if type(value) is not int or value < 0:
        raise Corrupt("%s: no whole number" % name)
    return value


def _text(fields: Any, name: str, pattern: str) -> str:
    value = fields.get(name)
    if type(value) is not str or not re.fullmatch(pattern, value, re.DOTALL):
        raise Corrupt("%s: no text as it must be" % name)
    return value
