"""Looking after a library: backups, exports, checks and repairs, building it anew after another recipe."""

from indexer.upkeep.backup import backup, restore
from indexer.upkeep.exchange import Imported, export_library, import_library
from indexer.upkeep.reindex import Gate, GateRefusedError, Reindexed, go_back, reindex
from indexer.upkeep.sampled import Sampled
from indexer.upkeep.verify import Finding, Severity, Verification, prune, verify

__all__ = [
    "Finding",
    "Gate",
    "GateRefusedError",
    "Imported",
    "Reindexed",
    "Sampled",
    "Severity",
    "Verification",
    "backup",
    "export_library",
    "go_back",
    "import_library",
    "prune",
    "reindex",
    "restore",
    "verify",
]
