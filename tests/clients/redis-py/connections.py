"""What all flows of redis-py use."""

import pathlib
import sys
import threading

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

PORT, PROTOCOL = int(sys.argv[1]), int(sys.argv[2])


def client(**options):
    return redis.Redis(port=PORT, protocol=PROTOCOL, **{"decode_responses": True, **options})


def later(call, *arguments):
    """Makes a call from another thread, once the caller most likely waits for its outcome."""
    timer = threading.Timer(0.1, call, arguments)
    timer.start()
    return timer


def tuples(rows):
    """RESP3 has lists where redis-py makes tuples of RESP2's."""
    return [tuple(row) for row in rows]
