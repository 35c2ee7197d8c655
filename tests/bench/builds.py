#!/usr/bin/env python3
"""Two builds of EdgeCask beside each other: the server's processor time for a request, before and after a change.

Both run at the same time on empty folders and are measured in turn, in many short rounds, so that a machine that drifts
drifts for both. Time is the server's own accounting (/proc/PID/schedstat): of the threads that serve clients, and of all
(merges come when they come). Shown are medians over the rounds, the median of the rounds' ratios, and the quarters between
which half of them lie.

    builds.py --before OLD/edgecask --after target/release/edgecask [--rounds 25] [--only SET,MULTI] [--threads 1]
"""

import argparse
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

REQUESTS = 40_000
CLIENTS = "50"

# Name, requests, options of redis-benchmark; None for what it cannot send.
CASES = [
    ("SET", REQUESTS, ["-t", "set"]),
    ("GET", REQUESTS, ["-t", "get"]),
    ("SET -P 16", 8 * REQUESTS, ["-t", "set", "-P", "16"]),
    ("GET -P 16", 8 * REQUESTS, ["-t", "get", "-P", "16"]),
    ("HSET", REQUESTS, ["-t", "hset"]),
    ("HSET -P 16", 6 * REQUESTS, ["-t", "hset", "-P", "16"]),
    ("LPUSH", REQUESTS, ["-t", "lpush"]),
    ("LPUSH -P 16", 6 * REQUESTS, ["-t", "lpush", "-P", "16"]),
    ("ZADD", REQUESTS, ["-t", "zadd"]),
    ("ZADD -P 16", 4 * REQUESTS, ["-t", "zadd", "-P", "16"]),
    ("MULTI", 4 * REQUESTS, None),
]

# One transaction, which is five requests.
TRANSACTION = b"".join(
    b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
    for words in ([b"MULTI"], [b"SET", b"key:1", b"xxx"], [b"HSET", b"hash", b"field", b"xxx"], [b"INCR", b"n"], [b"EXEC"])
)
BATCH = 50


def processor_s(server):
    """Seconds of processor time: of the threads that serve clients, and of all."""
    serving = total = 0
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        took = int((task / "schedstat").read_text().split()[0])
        total += took
        serving += took if (task / "comm").read_text().startswith("worker") else 0
    return serving / 1e9, total / 1e9


def send_transactions(server, count):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count // 5 // BATCH):
            connection.sendall(TRANSACTION * BATCH)
            ends = 0
            while ends < BATCH:
                # Only EXEC's reply is an array.
                ends += connection.recv(1 << 16).count(b"*3\r\n")


def measure(server, count, options):
    """Microseconds of processor time a request, of the serving threads and of all."""
    begin = processor_s(server)
    if options is None:
        send_transactions(server, count)
    else:
        subprocess.run(
            ["redis-benchmark", "-p", str(server.port), "-q", "-c", CLIENTS, "-n", str(count), "-r", "1000000", *options],
            check=True, stdout=subprocess.DEVNULL)
    return [(after - before) / count * 1e6 for before, after in zip(begin, processor_s(server))]


def compare(pairs, which):
    """Medians of both sides, and of the ratios of the pairs with the quarters in which half of them lie."""
    before, after = ([pair[side][which] for pair in pairs] for side in (0, 1))
    ratios = [new / old for old, new in zip(before, after)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{statistics.median(before):.2f} | {statistics.median(after):.2f} | {middle:.3f} ({low:.2f}-{high:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--threads", default="1", help="that serve connections, of both [default: 1]")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wanted = [name for name in options.only.split(",") if name]
    print("| case | serving threads, before | after | after / before | all threads, before | after | after / before |")
    print("|---|---|---|---|---|---|---|")
    for name, count, arguments in CASES:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="edgecask-builds-") as folder:
            def server(build, binary):
                return Server([binary, "serve", "--threads", options.threads, "--dir", os.path.join(folder, build)], os.path.join(folder, "log"))
            with server("before", options.before) as before, server("after", options.after) as after:
                sides = [before, after]
                for side in sides:
                    measure(side, count, arguments)
                pairs = []
                for turn in range(options.rounds):
                    order = (0, 1) if turn % 2 == 0 else (1, 0)
                    found = {side: measure(sides[side], count, arguments) for side in order}
                    pairs.append((found[0], found[1]))
        print(f"| {name} | {compare(pairs, 0)} | {compare(pairs, 1)} |", flush=True)


if __name__ == "__main__":
    main()
