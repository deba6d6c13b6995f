"""Kills the program many times in the middle of what it does; see `tests/killing.py` for what is then looked at.

python -m tests.benchmarks.kills [--rounds 200] [--seed 1] [--only add sync ...]

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
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(OPERATIONS), default=list(OPERATIONS))
    arguments = parser.parse_args()
    losses, started, files = 0, time.monotonic(), program()
    with tempfile.TemporaryDirectory(prefix="longdoc-killing-") as place:
        killer = Killer(Path(place))
        named = {name: len(killer.of(name).moments) for name in arguments.only}
        print(f"{sum(named.values())} named moments: {named}")
        for number, (name, kill_at, after) in enumerate(plan(killer, arguments.rounds, arguments.seed, arguments.only)):
            where = f"{after:.3f} s" if after is not None else f"{kill_at} ({killer.of(name).moments[kill_at - 1]})"
            try:
                killer.round(name, kill_at, after)
            except Exception as error:  # every loss is told, and the others are looked for too
                losses += 1
                print(f"round {number}: {name} killed at {where}: {type(error).__name__}: {error}", flush=True)
    print(f"{arguments.rounds} kills, {losses} losses, {time.monotonic() - started:.0f} s, seed {arguments.seed}")
    if program() != files:
        print("The program's files changed meanwhile, so this says nothing: run it again on a tree that is left alone.")
        return 2
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
