"""Named moments between two writes, at which a test can stop the program as a crash would.

Nothing in the product sets a hook: a point then costs one comparison.
"""

from __future__ import annotations

from collections.abc import Callable

_hook: Callable[[str], None] | None = None


def fault_point(name: str) -> None:
    """Say that the program has come to the moment called ``name``."""
    if _hook is not None:
        _hook(name)


def set_hook(hook: Callable[[str], None] | None) -> None:
    """Have ``hook`` called with the name of every moment from now on; None for nothing."""
    global _hook
    _hook = hook
