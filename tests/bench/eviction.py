#!/usr/bin/env python3
"""Hit ratio of each eviction policy beside redis-server's, under a Zipf load.

    eviction.py --edgecask target/release/edgecask [--same memory|keys] [--keys 100000] [--share 0.2] [--requests 300000]
                [--value-bytes 10] [POLICY...]

Both servers get the same requests at the same time, batch by batch: a GET, and a SET (with an expiry) of what was missed,
as an application uses a cache. At the same time, because both keep the time of the last use in whole seconds: one that ran
the load faster would know less of it. The first half of the requests fills the caches and is not counted.

`--same memory` shows what a user gets: both have the same `maxmemory`, the one under which redis-server holds about
`share` of the keys. Values of up to 12 bytes are in the memory of both. Longer ones are on EdgeCask's disk and do not count
there, so it holds many more keys than redis-server then, and the figures say little about policies. An entry does not take
the same memory in both even with short values; the numbers of keys that they held at the end are shown. It fails if
EdgeCask's hit ratio is more than two percentage points below that of redis-server.

`--same keys` compares the policies alone: each server gets the `maxmemory` under which it holds about `share` of the keys.
The script loads these, asks INFO how much of the memory counts (used_memory less mem_not_counted_for_evict), and sets
that. While the caches fill, the limit is corrected a few times by how many keys are held, since caches that have been
written for a while use their memory otherwise than new ones. It fails if a hit ratio is more than two points off to either
side.
"""

import argparse
import itertools
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import Server

POLICIES = ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"]
BATCH = 64
ALLOWED_POINTS = 2.0
CORRECTIONS = 6
PATIENCE_S = 60


class Cache(Connection):
    """A connection to a server that is used as a cache."""

    def __init__(self, server, value):
        super().__init__(server.port, PATIENCE_S)
        self.cached = value

    def values(self, requests):
        self.send(b"".join(requests))
        return [self.value() for _ in requests]

    def get(self, *words):
        return self.values([encode(*words)])[0]

    def info(self, field):
        text = self.get("INFO").decode()
        return int(next(line for line in text.splitlines() if line.startswith(field + ":")).split(":")[1])

    def counted_bytes(self):
        return self.info("used_memory") - self.info("mem_not_counted_for_evict")

    def use(self, keys, expiries):
        """Reads the keys and writes those that were missed; returns how many were found."""
        replies = self.values([encode("GET", f"key:{key}") for key in keys])
        missed = dict.fromkeys(key for key, reply in zip(keys, replies) if reply is None)
        self.values([encode("SET", f"key:{key}", self.cached, "EX", expiries[key]) for key in missed])
        return len(keys) - sum(reply is None for reply in replies)


def limit(cache, policy, keys, expiries):
    """Sets the `maxmemory` that lets a server hold so many of the keys, and returns it."""
    cache.call("CONFIG", "SET", "maxmemory", 0, "maxmemory-policy", policy)
    cache.call("FLUSHALL")
    for batch in range(0, keys, BATCH):
        cache.use(range(batch, min(batch + BATCH, keys)), expiries)
    maxmemory = cache.counted_bytes()
    cache.call("CONFIG", "SET", "maxmemory", maxmemory)
    # The bytes of the next load come beside those of the first until it is freed.
    cache.call("FLUSHALL")
    return maxmemory


def correct(cache, keys):
    """Changes the limit so that a server that is full holds so many keys."""
    maxmemory = int(cache.get("CONFIG", "GET", "maxmemory")[1])
    held = int(cache.get("DBSIZE"))
    cache.call("CONFIG", "SET", "maxmemory", int(maxmemory + (keys - held) * cache.counted_bytes() / held))


def measure(caches, policy, options):
    draw = random.Random(policy)
    expiries = [draw.randrange(100_000, 1_000_000) for _ in range(options.keys)]
    limits = [limit(cache, policy, int(options.keys * options.share), expiries) for cache in caches]
    if options.same == "memory":
        caches[0].call("CONFIG", "SET", "maxmemory", limits[1])
    names = list(range(options.keys))
    draw.shuffle(names)
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(options.keys)))
    hits, counted, corrected = [0] * len(caches), 0, 0
    for done in range(0, options.requests, BATCH):
        keys = draw.choices(names, cum_weights=weights, k=BATCH)
        counts = done >= options.requests // 2
        is_due = done >= options.requests * (4 + corrected) // 20 and corrected < CORRECTIONS
        if options.same == "keys" and is_due:
            corrected += 1
            for cache in caches:
                correct(cache, int(options.keys * options.share))
        counted += BATCH * counts
        for at, cache in enumerate(caches):
            hits[at] += cache.use(keys, expiries) * counts
    ratios = [100 * found / counted for found in hits]
    return [
        ratios,
        [int(cache.get("CONFIG", "GET", "maxmemory")[1]) for cache in caches],
        [int(cache.get("DBSIZE")) for cache in caches],
        [cache.info("evicted_keys") for cache in caches],
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--same", choices=["memory", "keys"], default="memory")
    parser.add_argument("--value-bytes", type=int, default=10)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--requests", type=int, default=300_000)
    parser.add_argument("policies", nargs="*", metavar="POLICY", default=POLICIES)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="edgecask-eviction-") as directory:
        data, log = os.path.join(directory, "data"), os.path.join(directory, "log")
        os.mkdir(data)
        ours = Server([options.edgecask, "serve", "--dir", data, "--appendfsync", "no"], log)
        theirs = Server(["redis-server", "--dir", directory, "--save", ""], log)
        with ours, theirs:
            caches = [Cache(server, b"x" * options.value_bytes) for server in (ours, theirs)]
            print(f"EdgeCask / Redis, the same {options.same}, values of {options.value_bytes} bytes")
            print("| policy | hits, % | maxmemory | keys held | evicted |")
            print("| --- | --- | --- | --- | --- |")
            for policy in options.policies:
                for cache in caches:
                    cache.call("CONFIG", "RESETSTAT")
                ratios, *others = measure(caches, policy, options)
                difference = ratios[0] - ratios[1]
                failed |= (-difference if options.same == "memory" else abs(difference)) > ALLOWED_POINTS
                cells = [f"{ratios[0]:.2f} / {ratios[1]:.2f}", *(f"{ours} / {theirs}" for ours, theirs in others)]
                print(f"| {policy} | {' | '.join(cells)} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
