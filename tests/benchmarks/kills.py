"""Kills the program many times in the middle of what it does; see `tests/killing.py` for what is then looked at.

python -m tests.benchmarks.kills [--rounds 264] [--first 0] [--seed 1] [--only add sync ...]

Ends with 0 when nothing is lost, with 1 after a loss, with 2 when the program's own files changed while it ran.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.killing import OPERATIONS, Killer, plan

ROOT = Path(__file__).resolve().parents[2]


def program() -> frozenset[tuple[str, int]]:
    """The program's files as they are now, each with the moment it was last written."""
    return frozenset(
        (str(path), path.stat().st_mtime_ns) for room in ("indexer", "tests") for path in (ROOT / room).rglob("*.py")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=264, help="three of four at a named moment, each in turn")
    parser.add_argument("--first", type=int, default=0, help="go on with this round of the series")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(OPERATIONS), default=list(OPERATIONS))
    arguments = parser.parse_args()
    losses, started, files = 0, time.monotonic(), program()
    with tempfile.TemporaryDirectory(prefix="longdoc-killing-") as place:
        killer = Killer(Path(place))
        named = {name: len(killer.of(name).moments) for name in arguments.only}
        print(f"{sum(named.values())} named moments: {named}")
        series = enumerate(plan(killer, arguments.rounds, arguments.seed, arguments.only))
        visited = set()
        for number, (name, kill_at, after) in series:
            if number < arguments.first:
                continue
            where = f"{after:.3f} s" if after is not None else f"{kill_at} ({killer.of(name).moments[kill_at - 1]})"
            visited.add((name, kill_at))
            try:
                killer.round(name, kill_at, after)
            except Exception as error:  # every loss is told, and the others are looked for too
                losses += 1
                print(f"round {number}: {name} killed at {where}: {type(error).__name__}: {error}", flush=True)
    rounds, moments = arguments.rounds - arguments.first, len([1 for _, kill_at in visited if kill_at])
    print(
        f"rounds {arguments.first} to {arguments.rounds - 1}: {rounds} kills, {moments} of the named moments, {losses} "
        f"losses, {time.monotonic() - started:.0f} s, seed {arguments.seed}"
    )
    if program() != files:
        print("The program's files changed meanwhile, so this says nothing: run it again on a tree that is left alone.")
        return 2
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
