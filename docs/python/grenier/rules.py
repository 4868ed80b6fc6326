"""How awari is played. A board is the seeds of its pits, those of the player to move first."""
from typing import List, NamedTuple, Optional, Sequence


class RuleSet(NamedTuple):
    """What rule sets differ in."""

    quiet_slam: bool  # a move that would capture all seeds of the opponent captures nothing
    starving: bool  # one may leave the opponent without seeds if all moves do, and take all


RULES = {"awari": RuleSet(False, True), "strict": RuleSet(False, False), "abapa": RuleSet(True, True)}
MOST_SEEDS = 48  # of any board


class Play(NamedTuple):
    """A move: seeds that it takes, and the board after it, seen by the next player."""

    captured: int
    child: List[int]


def _sown(board: Sequence[int], pit: int, quiet_slam: bool) -> Play:
    """Sows a pit that has seeds, and captures."""
    after, half, at = list(board), len(board) // 2, pit
    after[pit] = 0
    for _ in range(board[pit]):
        at = (at + 1) % len(after)
        if at == pit:  # never back into it
            at = (at + 1) % len(after)
        after[at] += 1
    captured, full = 0, list(after)
    while at >= half and after[at] in (2, 3):
        captured, after[at], at = captured + after[at], 0, at - 1
    if quiet_slam and not any(after[half:]):
        captured, after = 0, full
    return Play(captured, after[half:] + after[:half])


def plays(board: Sequence[int], rules: str) -> List[Optional[Play]]:
    """What playing each pit of the mover does, None where that is not possible."""
    half = len(board) // 2
    sown = [_sown(board, pit, RULES[rules].quiet_slam) if board[pit] else None for pit in range(half)]
    feeds = [play is not None and any(play.child[:half]) for play in sown]
    if not any(feeds) and RULES[rules].starving:  # each move that there is takes all
        return [play and Play(sum(board), [0] * len(board)) for play in sown]
    return [play if fed else None for play, fed in zip(sown, feeds)]
