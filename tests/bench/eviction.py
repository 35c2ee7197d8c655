#!/usr/bin/env python3
"""Hit ratio of each eviction policy beside redis-server's, under a Zipf load.

    eviction.py --edgecask target/release/edgecask [--keys 100000] [--share 0.2] [--requests 300000] [POLICY...]

Both servers get the same requests at the same time, batch by batch: a GET, and a SET (with an expiry) of what was missed,
as an application uses a cache. At the same time, because both keep the time of the last use in whole seconds: one that ran
the load faster would know less of it.

An entry does not take the same memory in both, so both get the `maxmemory` that lets them hold about the same number of
keys, and what is compared is the policy: the script loads `share` of the keys, asks INFO how much of the memory counts
(used_memory less mem_not_counted_for_evict), and sets that. The numbers of keys that they held at the end are shown.
The first half of the requests fills the caches and is not counted; while it runs the limit is corrected a few times by how many keys are
held, since caches that have been written for a while use their memory otherwise than new ones.

Exits with 1 if a hit ratio is more than two percentage points off.
"""

import argparse
import itertools
import os
import pathlib
import random
import socket
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

POLICIES = ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"]
BATCH = 64
VALUE = b"x" * 10
ALLOWED_POINTS = 2.0
CORRECTIONS = 6


def encode(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Cache:
    """A connection to a server that is used as a cache."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.hits = 0

    def ask_all(self, requests):
        self.socket.sendall(b"".join(requests))
        return [self.reply() for _ in requests]

    def ask(self, *words):
        return self.ask_all([encode(*words)])[0]

    def reply(self):
        line = self.file.readline()
        if line[:1] == b"-":
            sys.exit(line.decode())
        if line[:1] == b"$":
            count = int(line[1:])
            return None if count < 0 else self.file.read(count + 2)[:-2]
        if line[:1] == b"*":
            return [self.reply() for _ in range(int(line[1:]))]
        return line[1:].strip()

    def info(self, field):
        text = self.ask("INFO").decode()
        return int(next(line for line in text.splitlines() if line.startswith(field + ":")).split(":")[1])

    def counted_bytes(self):
        return self.info("used_memory") - self.info("mem_not_counted_for_evict")

    def use(self, keys, expiries):
        """Reads the keys and writes those that were missed; returns how many were found."""
        replies = self.ask_all([encode("GET", f"key:{key}") for key in keys])
        missed = dict.fromkeys(key for key, reply in zip(keys, replies) if reply is None)
        self.ask_all([encode("SET", f"key:{key}", VALUE, "EX", expiries[key]) for key in missed])
        return len(keys) - sum(reply is None for reply in replies)


def limit(cache, policy, keys, expiries):
    """Sets the `maxmemory` that lets a server hold so many of the keys."""
    cache.ask("CONFIG", "SET", "maxmemory", 0, "maxmemory-policy", policy)
    cache.ask("FLUSHALL")
    for batch in range(0, keys, BATCH):
        cache.use(range(batch, min(batch + BATCH, keys)), expiries)
    cache.ask("CONFIG", "SET", "maxmemory", cache.counted_bytes())
    # The bytes of the next load come beside those of the first until it is freed.
    cache.ask("FLUSHALL")


def correct(cache, keys):
    """Changes the limit so that a server that is full holds so many keys."""
    maxmemory = int(cache.ask_all([encode("CONFIG", "GET", "maxmemory")])[0][1])
    held = int(cache.ask("DBSIZE"))
    cache.ask("CONFIG", "SET", "maxmemory", int(maxmemory + (keys - held) * cache.counted_bytes() / held))


def measure(caches, policy, options):
    draw = random.Random(policy)
    expiries = [draw.randrange(100_000, 1_000_000) for _ in range(options.keys)]
    for cache in caches:
        limit(cache, policy, int(options.keys * options.share), expiries)
    names = list(range(options.keys))
    draw.shuffle(names)
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(options.keys)))
    hits, counted, corrected = [0] * len(caches), 0, 0
    for done in range(0, options.requests, BATCH):
        keys = draw.choices(names, cum_weights=weights, k=BATCH)
        counts = done >= options.requests // 2
        if done >= options.requests * (4 + corrected) // 20 and corrected < CORRECTIONS:
            corrected += 1
            for cache in caches:
                correct(cache, int(options.keys * options.share))
        counted += BATCH * counts
        for at, cache in enumerate(caches):
            hits[at] += cache.use(keys, expiries) * counts
    ratios = [100 * found / counted for found in hits]
    return ratios, [int(cache.ask("DBSIZE")) for cache in caches], [cache.info("evicted_keys") for cache in caches]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
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
            caches = [Cache(ours), Cache(theirs)]
            print("EdgeCask / Redis")
            print("| policy | hits, % | keys held | evicted |")
            print("| --- | --- | --- | --- |")
            for policy in options.policies:
                for cache in caches:
                    cache.ask("CONFIG", "RESETSTAT")
                ratios, held, evicted = measure(caches, policy, options)
                failed |= abs(ratios[0] - ratios[1]) > ALLOWED_POINTS
                print(f"| {policy} | {ratios[0]:.2f} / {ratios[1]:.2f} | {held[0]} / {held[1]} | {evicted[0]} / {evicted[1]} |",
                      flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
