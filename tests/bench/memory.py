#!/usr/bin/env python3
"""The memory that a million of each type takes, beside redis-server and valkey-server.

    memory.py --edgecask target/release/edgecask [--count 1000000] [--only "list of 17"]

Every figure is bytes for one key or element: what the server's memory has grown by since it was empty, by INFO's used_memory and
by /proc's RssAnon, through as many. *holds* is what the client has stored for it: key and value, field and value, member. A
value that EdgeCask reads from the log takes no memory, so its figure may be below that. Each type goes to a server of its own,
by `redis-cli --pipe`, Redis and Valkey with their append-only files on.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

import peers
from cases import request

# What a server still does behind its last reply has ended after it: buffers that are given back, the counting of memory.
SETTLED_S = 1.0

# Fields of a small hash.
SMALL = 10


def text(number, size, salt=b""):
    """`size` bytes, another for each number."""
    return (b"%s%0*d" % (salt, size - len(salt), number))[-size:]


# Name: what an element holds in bytes, and its request. Values differ, as those of clients do, and are no numbers, for which
# some servers have a shorter form.
TYPES = {
    **{f"string of {size}": (17 + size, lambda n, size=size: request(b"SET", text(n, 17, b"key:"), text(n, size, b"v")))
       for size in (3, 17, 100)},
    **{f"field of one hash, {size}": (17 + size, lambda n, size=size: request(b"HSET", b"c", text(n, 17), text(n, size, b"v")))
       for size in (17, 100)},
    "field of hashes of ten, 17": (34, lambda n: request(b"HSET", text(n // SMALL, 17), text(n, 17), text(n, 17, b"v"))),
    **{f"element of one list, {size}": (size, lambda n, size=size: request(b"RPUSH", b"c", text(n, size, b"v")))
       for size in (17, 100)},
    "element of lists of ten, 17": (17, lambda n: request(b"RPUSH", text(n // SMALL, 17), text(n, 17, b"v"))),
    "member of one set, 17": (17, lambda n: request(b"SADD", b"c", text(n, 17, b"m"))),
    "member of one sorted set, 17": (17, lambda n: request(b"ZADD", b"c", b"%d" % (n * 7919 % 1_000_003), text(n, 17, b"m"))),
    "entry of one stream, 28": (28, lambda n: request(b"XADD", b"c", b"%d-1" % (n + 1), b"field", text(n, 23, b"v"))),
}


def used_bytes(server):
    return int(re.search(rb"\r\nused_memory:(\d+)\r\n", server.call("INFO memory")).group(1))


def grown(command, log, requests, count):
    """Bytes an element by used_memory and by RssAnon."""
    with Server(command, log) as server:
        time.sleep(SETTLED_S)
        used, resident = used_bytes(server), server.memory_bytes()["RssAnon"]
        server.pipe(requests)
        time.sleep(SETTLED_S)
        return ((used_bytes(server) - used) / count, (server.memory_bytes()["RssAnon"] - resident) / count)


def rows(options, count, only=""):
    servers = peers.there_are(options, ("edgecask", "redis", "valkey"))
    for name, (holds, make) in TYPES.items():
        if only not in name:
            continue
        taken = []
        for server in servers:
            with tempfile.TemporaryDirectory(prefix="edgecask-memory-") as folder:
                command = peers.command(server, folder, options)
                taken.append(grown(command, folder + "/log", map(make, range(count)), count))
        yield [name, str(holds), *(f"{used:.0f}" for used, _ in taken), *(f"{resident:.0f}" for _, resident in taken)]


def head(options):
    servers = [peers.TITLES[server] for server in peers.there_are(options, ("edgecask", "redis", "valkey"))]
    return ["a million of", "holds", *(f"{name}, used" for name in servers), *(f"{name}, resident" for name in servers)]


def table(options, count=1_000_000):
    """The table as results.json has it."""
    return {"title": "Memory of a key or an element, in bytes",
            "command": "python3 tests/bench/memory.py --edgecask target/release/edgecask",
            "head": head(options), "rows": list(rows(options, count))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(parser)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="a part of the names of types")
    options = parser.parse_args()
    peers.check(options, "redis-cli")
    for cells in (head(options), ["---"] * len(head(options))):
        print(f"| {' | '.join(cells)} |", flush=True)
    for cells in rows(options, options.count, options.only):
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
