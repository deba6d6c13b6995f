"""Put on the path of a server under test: every process it starts encodes with the deterministic fake."""

import indexer.encode
from tests.fakes import FakeEncoder

indexer.encode.load_encoder = lambda *_, **__: FakeEncoder()
indexer.encode.describe_encoder = lambda *_, **__: FakeEncoder()
