"""The write path: scan, read, chunk, encode, store. Files on disk become documents that can be searched."""

from indexer.ingest.events import Stages
from indexer.ingest.plan import source_of
from indexer.ingest.progress import Progress
from indexer.ingest.run import AddOptions, Listener, add, sync
from indexer.ingest.sources import remember, remove
from indexer.ingest.watch import watch

__all__ = ["AddOptions", "Listener", "Progress", "Stages", "add", "remember", "remove", "source_of", "sync", "watch"]
