#!/usr/bin/env python3
"""Clients of Redis in Go, measured as Greddis' published benchmark measures: ns, bytes allocated and allocations an operation.

    clients_go.py [--seconds 1] [--rounds 3] [--server 127.0.0.1:6379]

tests/bench/clients-go says what is measured; it needs the Go that its go.mod names. For each measure the best of the rounds is shown,
since other programs on the machine only ever add. Beside them are Greddis' own figures of 2021, from its README: another machine, so
that only its allocations can be compared.
"""

import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

from peers import REPOSITORY

PROGRAM = REPOSITORY / "tests/bench/clients-go"
LINE = re.compile(r"^BenchmarkClients/(get|set)/([\w-]+?)/(\d+)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+(\d+) B/op\s+(\d+) allocs/op$", re.MULTILINE)
# Greddis' ns, bytes and allocations by operation and size, on its author's machine.
PUBLISHED = {
    ("get", 1_000): (17_082, 1, 0), ("get", 10_000): (19_505, 1, 0), ("get", 100_000): (39_965, 14, 0),
    ("get", 10_000_000): (4_067_938, 157_934, 0),
    ("set", 1_000): (16_474, 1, 0), ("set", 10_000): (23_079, 1, 0), ("set", 100_000): (47_438, 3, 0),
    ("set", 10_000_000): (4_707_750, 129, 0),
}


def run(server, seconds):
    """(operation, client, size) to (ns, bytes, allocations)."""
    command = ["go", "test", "-run", "^$", "-bench", ".", "-benchtime", f"{seconds}s"]
    output = subprocess.run(command, cwd=PROGRAM, env={**os.environ, "CLIENTS_SERVER": server}, check=True,
                            capture_output=True, text=True).stdout
    return {(operation, client, int(size)): (float(ns), int(size_bytes), int(allocations))
            for operation, client, size, ns, size_bytes, allocations in LINE.findall(output)}


def cell(measured):
    return f"{measured[0]:,.0f} ({measured[1]:,}, {measured[2]})" if measured else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--server", default="", help="ADDRESS:PORT of a running server, where the key testkey is overwritten")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        address = options.server
        if not address:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="edgecask-clients-"))
            command = ["redis-server", "--save", "", "--appendonly", "no", "--dir", folder]
            address = f"127.0.0.1:{stack.enter_context(Server(command, os.path.join(folder, 'log'))).port}"
        rounds = [run(address, options.seconds) for _ in range(options.rounds)]
    best = {what: tuple(map(min, zip(*(one[what] for one in rounds)))) for what in rounds[0]}
    clients = list(dict.fromkeys(client for _, client, _ in best))
    print("| ns an operation (bytes, allocations) |", *(f"{client} |" for client in clients), "Greddis, published |")
    print("|---" * (len(clients) + 2) + "|")
    for operation, size in dict.fromkeys((operation, size) for operation, _, size in sorted(best)):
        print(f"| {operation} {size:,} B |", *(f"{cell(best[operation, client, size])} |" for client in clients),
              f"{cell(PUBLISHED.get((operation, size)))} |")


if __name__ == "__main__":
    main()
