"""The formats that can be read: every module in ``formats`` names its own in ``FORMATS``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from indexer.datatypes import Status
from indexer.parse import formats
from indexer.parse.model import Format, Sample, UnreadableError

_KINDS = (
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "a database"),
    (b"OggS", "sound"),
    (b"ID3", "sound"),
    (b"fLaC", "sound"),
    (b"\x1aE\xdf\xa3", "a film"),
    (b"\xd0\xcf\x11\xe0", "a program's own format, and not Word's, Excel's or PowerPoint's"),
)


@lru_cache(maxsize=1)
def known_formats() -> tuple[Format, ...]:
    """Every format, in the order of the modules' names."""
    modules = sorted(module.name for module in pkgutil.iter_modules(formats.__path__))
    return tuple(found for name in modules for found in importlib.import_module(f"{formats.__name__}.{name}").FORMATS)


def readable_suffixes() -> tuple[str, ...]:
    """The endings that files of the known formats usually have, without the dot, sorted."""
    return tuple(sorted({suffix for found in known_formats() for suffix in found.suffixes}))


def detect_format(sample: Sample) -> Format:
    """The format of a file by its content; the name only settles what the content leaves open.

    Raises UnreadableError when the file is empty or no format knows it.
    """
    if not sample.size:
        raise UnreadableError(Status.EMPTY, "the file is empty (0 bytes)")
    sure, best = max(((found.recognise(sample), -i) for i, found in enumerate(known_formats())), default=(0, 0))
    if not sure:
        raise UnreadableError(Status.UNSUPPORTED, _describe(sample))
    return known_formats()[-best]


def _describe(sample: Sample) -> str:
    kind = next((kind for mark, kind in _KINDS if sample.head.startswith(mark)), "")
    return f"the content is {kind or 'not in a format that can be read'}"
