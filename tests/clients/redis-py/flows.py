"""redis-py's own flows: `flows.py PORT PROTOCOL`."""

import connections  # It makes the harness importable, so it comes first.
import events
import values
from harness import run

run(values.FLOWS + events.FLOWS)
