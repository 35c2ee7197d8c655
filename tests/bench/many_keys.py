#!/usr/bin/env python3
"""The server's processor time for a request by the number of keys, from ten thousand to ten million, beside redis-server and
valkey-server.

    many_keys.py --edgecask target/release/edgecask [--most 10000000] [--rounds 3]

GET, SET and HSET (a new value for the one field of a small hash) of random keys that all exist, by redis-benchmark with 50
connections and pipelines of 16; values have 3 bytes, as its own have, or 100, which EdgeCask reads from the log. Every figure is
the median of the rounds, in µs of user and system time of all threads; the servers are measured one after the other. The last
column is the cost with most keys to that with fewest.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

import load
import peers
from cases import Case, request

FEWEST = 10_000
MOST = 10_000_000
ROUNDS = 3
REQUESTS = 800_000
SHORT, LONG = b"xxx", b"x" * 100
# redis-benchmark puts twelve digits there.
NUMBER = "__rand_int__"

# Name: what makes a key before, and the arguments of redis-benchmark.
COMMANDS = {
    "GET": (lambda n: request(b"SET", b"key:%012d" % n, SHORT), ("GET", f"key:{NUMBER}")),
    "GET 100 B": (lambda n: request(b"SET", b"key:%012d" % n, LONG), ("GET", f"key:{NUMBER}")),
    "SET": (lambda n: request(b"SET", b"key:%012d" % n, SHORT), ("SET", f"key:{NUMBER}", SHORT.decode())),
    "HSET": (lambda n: request(b"HSET", b"hash:%012d" % n, b"field", SHORT),
             ("HSET", f"hash:{NUMBER}", "field", SHORT.decode())),
}


def counts(most):
    count = FEWEST
    while count <= most:
        yield count
        count *= 10


def costs(server_name, name, options, most, rounds):
    """µs a request for each number of keys."""
    make, arguments = COMMANDS[name]
    with tempfile.TemporaryDirectory(prefix="edgecask-many-keys-") as folder:
        with Server(peers.command(server_name, folder, options), folder + "/log") as server:
            there = 0
            for count in counts(most):
                server.pipe(map(make, range(there, count)))
                there = count
                case = Case(name, ("-r", str(count), *arguments), pipeline=16)
                load.redis_benchmark(server, case, REQUESTS)  # caches and threads as they stay
                taken = [load.redis_benchmark(server, case, REQUESTS)["cpu_us"] for _ in range(rounds)]
                yield statistics.median(taken)


def rows(options, most=MOST, rounds=ROUNDS):
    for name in COMMANDS:
        for server in peers.there_are(options, ("edgecask", "redis", "valkey")):
            found = list(costs(server, name, options, most, rounds))
            yield [f"{name}, {peers.TITLES[server]}", *(f"{cost:.2f}" for cost in found), f"{found[-1] / found[0]:.2f}"]


def head(most=MOST):
    return ["CPU µs a request with", *(f"{count:,} keys" for count in counts(most)), "ratio"]


def table(options):
    """The table as results.json has it."""
    return {"title": "Cost of a request by the number of keys",
            "command": "python3 tests/bench/many_keys.py --edgecask target/release/edgecask",
            "head": head(), "rows": list(rows(options))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(parser)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    peers.check(options, "redis-cli", "redis-benchmark")
    for cells in (head(options.most), ["---"] * len(head(options.most))):
        print(f"| {' | '.join(cells)} |", flush=True)
    for cells in rows(options, options.most, options.rounds):
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
