"""Prints scores of awari boards from solved layers.

  python3 -m grenier PLACE 1 1 1 1 1 2 4 2 3 0 0 0    one board, the mover's pits first
  python3 -m grenier PLACE -                          boards on stdin, one a line

PLACE is a run directory, or the address of one on a web server. Blanks or commas stand between the numbers;
empty lines, and those that begin with #, are passed over. Scores are printed one a line, in the
order of the boards. The exit status is 0, or with a message on stderr 1 for a failure, 2 for what makes no sense
(a board, an address, the command line), 4 for damaged data.
"""
import itertools
import os
import sys
from typing import List, Sequence

import grenier

TOGETHER = 100_000  # boards that are looked up at a time


def fields(line: str) -> List[int]:
    """The numbers of a line, none if it is empty or a comment."""
    line = line.lstrip("\ufeff").strip()
    return [] if line.startswith("#") else [int(word) for word in line.replace(",", " ").split()]


def lookup(place: str, words: Sequence[str]) -> None:
    with grenier.open(place) as tables:
        if words != ["-"]:
            print(tables.score(fields(" ".join(words))))
            return
        boards = filter(None, map(fields, sys.stdin))
        for begin in itertools.count(0, TOGETHER):
            some = list(itertools.islice(boards, TOGETHER))
            if not some:
                return
            try:
                scores = tables.scores(some)
            except (ValueError, grenier.Unsolved) as error:
                raise type(error)("of the boards from %d on, %s" % (begin, error)) from None
            sys.stdout.writelines("%d\n" % score for score in scores)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        lookup(sys.argv[1], sys.argv[2:])
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (grenier.Error, OSError, ValueError) as error:
        print("grenier: %s" % error, file=sys.stderr)
        return 4 if isinstance(error, grenier.Corrupt) else 2 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
