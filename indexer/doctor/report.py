"""What the doctor says: findings, each with a level and, where something is wrong, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


_ORDER = (Level.OK, Level.WARN, Level.FAIL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a diagnosis: what was looked at (``layer``, ``name``), what was seen, and what to do if anything."""

    layer: str
    name: str
    level: Level
    text: str
    advice: str = ""


def worst(findings: Iterable[Finding]) -> Level:
    """The worst level among findings; ok when there are none."""
    return max((finding.level for finding in findings), key=_ORDER.index, default=Level.OK)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything the doctor looked at, in order."""

    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst level of all lines."""
        return worst(self.findings)

    def at(self, level: Level) -> tuple[Finding, ...]:
        """The lines of one level."""
        return tuple(finding for finding in self.findings if finding.level is level)


def judge(layer: str, name: str, text: str, *, warn: str = "", fail: str = "") -> Finding:
    """A finding that is a failure when ``fail`` says what to do, a warning when ``warn`` does, and else in order."""
    level = Level.FAIL if fail else Level.WARN if warn else Level.OK
    return Finding(layer, name, level, text, fail or warn)
