"""The write path: scan, read, chunk, encode, store. Files on disk become documents that can be searched."""

from indexer.ingest.events import Stages
from indexer.ingest.progress import Progress
from indexer.ingest.run import AddOptions, Listener, add, remember, remove, sync
from indexer.ingest.watch import watch

__all__ = ["AddOptions", "Listener", "Progress", "Stages", "add", "remember", "remove", "sync", "watch"]
