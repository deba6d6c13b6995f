"""Ask pip-audit whether a pinned version has a known vulnerability, and say plainly when nobody could be asked.

usage: python .ci/audit.py PIP_AUDIT     exit 1 if a vulnerability is known; 0 otherwise, also where there is no network
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).resolve().parent.parent / "constraints.txt"
SECONDS = 300


def report(tool: str) -> list[dict[str, Any]] | str:
    """What pip-audit says of each pinned distribution, or why it could say nothing."""
    command = [tool, "--requirement", str(CONSTRAINTS), "--no-deps", "--disable-pip", "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        listed: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except OSError as error:
        return f"pip-audit cannot be run ({error.strerror})"
    except subprocess.TimeoutExpired:
        return f"pip-audit had no answer after {SECONDS} s"
    except (ValueError, KeyError):
        return f"pip-audit could not ask: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1][:200]}"
    return listed


def verdict(found: list[dict[str, Any]] | str) -> tuple[int, list[str]]:
    """The exit code, and the lines that say what was audited and what is known."""
    if isinstance(found, str):
        return 0, [f"NOT AUDITED: {found}. Whether a dependency has a known vulnerability is not known."]
    vulnerable = [one for one in found if one.get("vulns")]
    skipped = [one["name"] for one in found if "skip_reason" in one]
    lines = [
        f"{one['name']} {one['version']}: {', '.join(known['id'] for known in one['vulns'])}" for one in vulnerable
    ]
    if skipped:
        some = ", ".join(skipped[:5]) + (", ..." if len(skipped) > 5 else "")
        lines.append(
            f"NOT AUDITED: {len(skipped)} of {len(found)} dependencies, of which nothing could be asked ({some})."
        )
    if len(found) > len(skipped):
        lines.append(
            f"Audited: {len(found) - len(skipped)} dependencies, {len(vulnerable)} with a known vulnerability."
        )
    return (1 if vulnerable else 0), lines


def main() -> int:
    """Print the verdict."""
    code, lines = verdict(report(sys.argv[1]))
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
