#!/usr/bin/env python3
"""A million small keys: memory per key beside redis-server's, and how long a start takes with hints and without.

    reopen.py --edgecask target/release/edgecask [--keys 1000000]

Keys have 16 bytes and values 3. Memory is RssAnon, after loading less before; the time of a start runs from exec to the
first answered PING. Without hints: the folder of the metadata map is removed, which the log then says.
"""

import argparse
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running server; `started` is the seconds from exec to its first PONG."""

    def __init__(self, command, log):
        self.port = free_port()
        begin = time.monotonic()
        self.process = subprocess.Popen([*command, "-p" if "serve" in command else "--port", str(self.port)],
                                        stdout=log, stderr=log)
        while self.call(b"PING\r\n") != b"+PONG\r\n":
            if self.process.poll() is not None or time.monotonic() > begin + 300:
                sys.exit(f"{command[0]} did not start")
            time.sleep(0.002)
        self.started = time.monotonic() - begin

    def call(self, request):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=300) as client:
                client.sendall(request)
                return client.recv(65536)
        except OSError:
            return b""

    def size(self):
        return int(self.call(b"DBSIZE\r\n").strip().lstrip(b":"))

    def rss_anon(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        return 0

    def load(self, keys):
        pipe = subprocess.Popen(["redis-cli", "-p", str(self.port), "--pipe"], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL)
        for first in range(0, keys, 10_000):
            batch = range(first, min(first + 10_000, keys))
            pipe.stdin.write(b"".join(b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$3\r\nabc\r\n" % key for key in batch))
        pipe.stdin.close()
        if pipe.wait() != 0 or self.size() != keys:
            sys.exit("loading failed")

    def stop(self, how):
        self.process.send_signal(how)
        self.process.wait(60)


def bytes_per_key(command, log, keys, how):
    server = Server(command, log)
    before = server.rss_anon()
    server.load(keys)
    grown = (server.rss_anon() - before) / keys
    server.stop(how)
    return grown


def start_seconds(command, log, keys, how, prepare=lambda: None):
    seconds = []
    for _ in range(3):
        prepare()
        server = Server(command, log)
        if server.size() != keys:
            sys.exit("keys are missing after the start")
        seconds.append(server.started)
        server.stop(how)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--keys", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edgecask-reopen-") as directory, \
            open(os.path.join(directory, "log"), "w") as log:
        data, redis_data = os.path.join(directory, "data"), os.path.join(directory, "redis")
        os.mkdir(redis_data)
        ours = [options.edgecask, "serve", "-d", data]
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
