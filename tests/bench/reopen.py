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
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server


def size(server):
    return int(server.call("DBSIZE").strip().lstrip(b":"))


def load(server, keys):
    pipe = subprocess.Popen(["redis-cli", "-p", str(server.port), "--pipe"], stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL)
    for first in range(0, keys, 10_000):
        batch = range(first, min(first + 10_000, keys))
        pipe.stdin.write(b"".join(b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$3\r\nabc\r\n" % key for key in batch))
    pipe.stdin.close()
    if pipe.wait() != 0 or size(server) != keys:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--keys", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edgecask-reopen-") as directory:
        data, redis_data, log = (os.path.join(directory, name) for name in ("data", "redis", "log"))
        os.mkdir(redis_data)
        ours = [options.edgecask, "serve", "--dir", data]
        theirs = ["redis-server", "--dir", redis_data, "--save", "", "--appendonly", "yes"]
        memory = bytes_per_key(ours, log, options.keys, signal.SIGKILL)
        print(f"edgecask: {memory:.1f} bytes of memory a key")
        # Killed before any hint was written; hints only come with a clean stop.
        killed = start_seconds(ours, log, options.keys, signal.SIGKILL)
        print(f"edgecask: {killed:.2f} s to start after kill -9")
        Server(ours, log).stop(signal.SIGTERM)
        hinted = start_seconds(ours, log, options.keys, signal.SIGKILL)
        print(f"edgecask: {hinted:.2f} s to start with hints")
        without = start_seconds(ours, log, options.keys, signal.SIGKILL,
                                lambda: shutil.rmtree(os.path.join(data, "meta")))
        print(f"edgecask: {without:.2f} s to start without hints (meta/ removed)")
        memory = bytes_per_key(theirs, log, options.keys, signal.SIGTERM)
        print(f"redis:    {memory:.1f} bytes of memory a key")
        print(f"redis:    {start_seconds(theirs, log, options.keys, signal.SIGTERM):.2f} s to start from its log")


if __name__ == "__main__":
    main()
