"""``python -m indexer``: the command line without its installed script."""

import sys

from indexer.cli import main

sys.exit(main())
