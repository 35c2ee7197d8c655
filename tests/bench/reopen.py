#!/usr/bin/env python3
"""A million small keys: memory per key beside redis-server's, and how long a start takes with hints and without.

    reopen.py --edgecask target/release/edgecask [--keys 1000000]

Keys have 16 bytes and values 3. Memory is RssAnon, after loading less before; the time of a start runs from exec to the
first answered PING. Without hints: the folder of the metadata map is removed, which the log then says.
"""

import argparse
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server


def size(server):
    return int(server.call("DBSIZE").strip().lstrip(b":"))


def load(server, keys):
    server.pipe(b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$3\r\nabc\r\n" % key for key in range(keys))
    if size(server) != keys:
        sys.exit("loading failed")


def bytes_per_key(command, log, keys, how):
    with Server(command, log) as server:
        before = server.memory_bytes()["RssAnon"]
        load(server, keys)
        grown = server.memory_bytes()["RssAnon"] - before
        server.stop(how)
    return grown / keys


def start_seconds(command, log, keys, how, prepare=lambda: None):
    seconds = []
    for _ in range(3):
        prepare()
        with Server(command, log) as server:
            if size(server) != keys:
                sys.exit("keys are missing after the start")
            seconds.append(server.started_s)
            server.stop(how)
    return statistics.median(seconds)


def figures(edgecask, keys=1_000_000):
    """What is measured, as rows of a name and EdgeCask's and Redis' figures."""
    with tempfile.TemporaryDirectory(prefix="edgecask-reopen-") as directory:
        data, redis_data, log = (os.path.join(directory, name) for name in ("data", "redis", "log"))
        os.mkdir(redis_data)
        ours = [edgecask, "serve", "--dir", data]
        theirs = ["redis-server", "--dir", redis_data, "--save", "", "--appendonly", "yes"]
        our_memory = bytes_per_key(ours, log, keys, signal.SIGKILL)
        their_memory = bytes_per_key(theirs, log, keys, signal.SIGTERM)
        yield row("memory for a key", f"{our_memory:.1f} bytes", f"{their_memory:.1f} bytes")
        # Killed before any hint was written; hints only come with a clean stop.
        killed = start_seconds(ours, log, keys, signal.SIGKILL)
        Server(ours, log).stop(signal.SIGTERM)
        hinted = start_seconds(ours, log, keys, signal.SIGKILL)
        without = start_seconds(ours, log, keys, signal.SIGKILL, lambda: shutil.rmtree(os.path.join(data, "meta")))
        replayed = f"{start_seconds(theirs, log, keys, signal.SIGTERM):.2f} s, from its log"
        yield row("start after a clean stop, with hints", f"{hinted:.2f} s", replayed)
        yield row("start without hints (meta/ removed)", f"{without:.2f} s", "-")
        yield row("start after kill -9", f"{killed:.2f} s", "-")


def table(options):
    """The table as results.json has it."""
    rows = [[row["name"], row["edgecask"], row["redis"]] for row in figures(options.edgecask)]
    return {"title": "A million keys of 16 bytes with values of 3",
            "command": "python3 tests/bench/reopen.py --edgecask target/release/edgecask",
            "head": ["", "EdgeCask", "Redis"], "rows": rows}


def row(name, ours, theirs):
    return {"name": name, "edgecask": ours, "redis": theirs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--keys", type=int, default=1_000_000)
    options = parser.parse_args()
    for measured in figures(options.edgecask, options.keys):
        print("{name}: {edgecask} (Redis {redis})".format(**measured), flush=True)


if __name__ == "__main__":
    main()
