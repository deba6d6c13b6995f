"""How a document is to be read: limits, passwords and whether pictures of text are recognised."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.errors import SettingsError
from indexer.settings import Settings, parse_size

OCR_MODES = ("auto", "never", "always")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Limits a document; sizes in bytes.

    ``seconds`` is how long the reader may go without handing over a page; ``memory_bytes`` what its process may take;
    ``max_bytes`` the largest file that is opened at all; ``max_inflated_bytes`` what an archive may unpack to.
    """

    passwords: tuple[str, ...] = ()
    ocr: str = "auto"
    seconds: float = 300.0
    memory_bytes: int = 2 << 30
    max_bytes: int = 8 << 30
    max_inflated_bytes: int = 1 << 30
    sandbox: bool = True

    def __repr__(self) -> str:
        """Everything but the passwords, which appear in no log."""
        return f"ReadOptions(ocr={self.ocr!r}, seconds={self.seconds}, memory_bytes={self.memory_bytes})"

    @classmethod
    def from_settings(cls, settings: Settings, passwords: tuple[str, ...] = ()) -> ReadOptions:
        """The options a person's settings ask for. Raises SettingsError naming the setting that cannot be used."""
        if settings.ocr not in OCR_MODES:
            raise SettingsError(f"ocr is {settings.ocr!r}; it can be {', '.join(OCR_MODES)}.")
        return cls(
            passwords=passwords,
            ocr=settings.ocr,
            seconds=float(settings.parse_seconds),
            memory_bytes=parse_size(settings.parse_memory, "parse_memory"),
        )
