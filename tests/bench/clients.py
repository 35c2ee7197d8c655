#!/usr/bin/env python3
"""Clients of Redis in Rust beside each other: the client's CPU and requests a second, allocations and system calls.

    clients.py [--only "get 3 B, 64 tasks"] [--clients fred,rustis] [--rounds 3] [--seconds 1] [--server 127.0.0.1:6379]
               [--out .build/clients.jsonl]

It builds tests/bench/clients, which says what is measured and how, starts a redis-server that writes nothing to disk (or
takes --server), and runs every load with every client. Rounds are interleaved: a round measures a load with all clients in
turn, beginning with another one each time. Shown is the best of the rounds for each measure by itself, since other programs
on the machine only ever add. CPU is user and system time of the client's process (getrusage), in µs a request; in brackets
are thousands of requests a second, of two worker threads beside the server on the same processors. Every reply is checked.

--only takes names and patterns of loads, separated by semicolons, as --list shows them: "get 3 B, * tasks; * 64 tasks".
A line of JSON for each run is appended to --out.
"""

import argparse
import contextlib
import fnmatch
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

from peers import REPOSITORY

PROGRAM = REPOSITORY / "tests/bench/clients"
SIZES = {"3 B": 3, "1 kB": 1000, "100 kB": 100_000}
# What a run takes beyond its window: warming up, connecting, and the end of pipelines of 100 kB.
PATIENCE_S = 60
# The crate of each client, for its version.
CRATES = {"redis-rs": "redis 1", "redis-rs-manager": "redis 1", "redis-rs-2": "redis 2", "bb8": "bb8-redis", "bb8-unchecked": "bb8-redis",
          "deadpool": "deadpool-redis", "fred": "fred", "rustis": "rustis", "edgecask": "edgecask-client"}
# Of these the largest is the best, of all others the smallest.
LARGEST_IS_BEST = ("operations_per_second",)


def loads():
    """Every load: its name and the program's options for it."""
    for operation, (size_name, size), tasks, pipeline in itertools.product(
            ("get", "set"), SIZES.items(), (1, 8, 64), (1, 16)):
        name = f"{operation} {size_name}, {tasks} task{'s' if tasks > 1 else ''}{f', pipelines of {pipeline}' if pipeline > 1 else ''}"
        yield name, {"operation": operation, "size": size, "tasks": tasks, "pipeline": pipeline}


def chosen(only):
    """The loads that the option asks for, all if it is empty."""
    every = dict(loads())
    if not only:
        return every
    found = {}
    for pattern in map(str.strip, only.split(";")):
        if not (names := fnmatch.filter(every, pattern)):
            sys.exit(f"no load is named {pattern!r}; --list shows all")
        found |= {name: every[name] for name in names}
    return found


def built():
    """The program, built."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / ".build/clients-bench"))
    command = ["cargo", "build", "--release", "--quiet", "--manifest-path", PROGRAM / "Cargo.toml", "--target-dir", target]
    subprocess.run(command, check=True)
    return target / "release/clients"


def versions():
    """The version of each crate in the lock file; of redis, which is there twice, under `redis 1` and `redis 2`."""
    packages = tomllib.loads((PROGRAM / "Cargo.lock").read_text())["package"]
    found = {package["name"]: package["version"] for package in packages}
    return found | {f"redis {package['version'][0]}": package["version"] for package in packages if package["name"] == "redis"}


def measured(program, server, client, load, seconds):
    """What the program printed, or why it did not: {"failed": text}."""
    options = [f"--{name}={value}" for name, value in {**load, "server": server, "client": client, "seconds": seconds}.items()]
    try:
        run = subprocess.run([program, *options], capture_output=True, text=True, timeout=PATIENCE_S + 4 * seconds)
    except subprocess.TimeoutExpired:
        return {"failed": "did not end in time"}
    return json.loads(run.stdout) if run.returncode == 0 else {"failed": run.stderr.strip()}


def best(rounds):
    """The best of each measure; None if no round went well."""
    rounds = [one for one in rounds if "failed" not in one]
    if not rounds:
        return None
    return {measure: (max if measure in LARGEST_IS_BEST else min)(one[measure] for one in rounds) for measure in rounds[0]}


def number(value):
    """Two digits at least, and no more after the point than that takes."""
    return f"{value:.{0 if value >= 20 else 1 if value >= 2 else 2}f}"


# Tables: title, and a cell of each.
TABLES = (
    ("µs of client CPU a request (thousand requests a second)",
     lambda one: f"{number(one['cpu_us'])} ({number(one['operations_per_second'] / 1000)})"),
    ("allocations a request (bytes)",
     lambda one: f"{number(one['allocations'])} ({one['allocated_bytes']:.0f})"),
    ("system calls a request: reads + writes + polls + wakes",
     lambda one: " + ".join(number(one[kind]) for kind in ("receives", "sends", "polls", "wakes"))),
)


def show(results, clients):
    """The tables in Markdown."""
    known = versions()
    heads = [f"{client} {known.get(CRATES.get(client), '')}".strip() for client in clients]
    for title, cell in TABLES:
        rows = [[title, *heads]]
        rows += [[name, *(cell(one) if one else "failed" for one in (best(by_client[client]) for client in clients))]
                 for name, by_client in results.items()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        rows.insert(1, ["-" * width for width in widths])
        print(*("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows), "", sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names or patterns of loads, separated by semicolons")
    parser.add_argument("--clients", default="", help="names separated by commas [all]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="the measured part of a run [%(default)s]")
    parser.add_argument("--server", default="", help="ADDRESS:PORT of a running server, where keys clients:* are overwritten")
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / ".build/clients.jsonl")
    parser.add_argument("--list", action="store_true", help="print the names of loads and end")
    options = parser.parse_args()
    chosen_loads = chosen(options.only)
    if options.list:
        return print(*chosen_loads, sep="\n")

    program = built()
    there_are = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.split()
    clients = options.clients.split(",") if options.clients else there_are
    if unknown := set(clients) - set(there_are):
        sys.exit(f"no client is named {', '.join(unknown)}; there are {', '.join(there_are)}")

    results = {name: {client: [] for client in clients} for name in chosen_loads}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(open(options.out, "a"))
        address = options.server
        if not address:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="edgecask-clients-"))
            command = ["redis-server", "--save", "", "--appendonly", "no", "--dir", folder]
            address = f"127.0.0.1:{stack.enter_context(Server(command, os.path.join(folder, 'log'))).port}"
        for turn in range(options.rounds):
            for name, load in chosen_loads.items():
                first = turn % len(clients)
                for client in clients[first:] + clients[:first]:
                    one = measured(program, address, client, load, options.seconds)
                    results[name][client].append(one)
                    lines.write(json.dumps({"load": name, "client": client, "round": turn, **one}) + "\n")
                    lines.flush()
                    if "failed" in one:
                        print(f"{name}: {one['failed']}", file=sys.stderr)
    show(results, clients)


if __name__ == "__main__":
    main()
