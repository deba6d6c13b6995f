"""Builds SentencePiece's "precompiled charsmap" from a table of single code points.

The format is the one `tokenizers.normalizers.Precompiled` reads: the byte length of a double-array trie, the trie, then
the replacements, each closed by a NUL. Trie units follow darts-clone: bits 10.. hold the offset to the children (found
at ``offset ^ label``), bit 8 says that a value stands at label 0, the low byte is the label; a value has bit 31 set.
"""

from __future__ import annotations

import struct

_HAS_LEAF = 1 << 8
_IS_VALUE = 1 << 31
_OFFSET_LIMIT = 1 << 21


def build_charsmap(table: dict[int, str]) -> bytes:
    """Serialise ``table`` (code point to replacement).

    UTF-8 codes are free of prefixes, so a node either has children or a value: each inner node gets an aligned block of
    256 units, and the values follow behind all blocks.
    """
    replacements, starts = _replacements(table)
    blocks: dict[bytes, int] = {b"": 0}
    keys = sorted((chr(point).encode("utf-8"), replacement) for point, replacement in table.items())
    for key, _ in keys:
        for end in range(1, len(key)):
            blocks.setdefault(key[:end], 256 * len(blocks))
    values_at = 256 * len(blocks)
    if values_at + len(keys) >= _OFFSET_LIMIT:
        raise ValueError("the table is too large for one trie")
    units = [0] * (values_at + len(keys))
    for prefix, base in blocks.items():
        if prefix:
            node = blocks[prefix[:-1]] ^ prefix[-1]
            units[node] = (node ^ base) << 10 | prefix[-1]
    for number, (key, replacement) in enumerate(keys):
        node = blocks[key[:-1]] ^ key[-1]
        units[node] = (node ^ (values_at + number)) << 10 | _HAS_LEAF | key[-1]
        units[values_at + number] = _IS_VALUE | starts[replacement]
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + replacements


def _replacements(table: dict[int, str]) -> tuple[bytes, dict[str, int]]:
    blob = bytearray()
    starts: dict[str, int] = {}
    for replacement in table.values():
        if replacement not in starts:
            starts[replacement] = len(blob)
            blob += replacement.encode("utf-8") + b"\0"
    return bytes(blob), starts
