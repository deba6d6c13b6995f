"""The write path: scan, read, chunk, encode, store. Files on disk become documents that can be searched."""

from indexer.ingest.events import Stages
from indexer.ingest.progress import Progress
from indexer.ingest.run import AddOptions, Listener, add, remove, sync

__all__ = ["AddOptions", "Listener", "Progress", "Stages", "add", "remove", "sync"]
