#!/usr/bin/env python3
"""Collections of a million members beside redis-server in one run: build, point read, range of 100, delete, memory.

    million.py --edgecask target/release/edgecask [--members 1000000]

Building goes through `redis-cli --pipe`, a member a request. Reads are single requests on one connection, their median
in microseconds as the client sees them. The time of a delete is that of the DEL itself; memory is RssAnon after the
build, less before, for each member. Redis runs with its append-only file on.
"""

import argparse
import os
import pathlib
import random
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

READS = 2_000

# Name: a request for each member, a point read, a range of 100.
COLLECTIONS = {
    "hash": (lambda n: ("HSET", "c", f"field:{n:012}", f"value:{n}"), lambda n: ("HGET", "c", f"field:{n:012}"),
             lambda n: ("HMGET", "c", *(f"field:{m:012}" for m in range(n, n + 100)))),
    "set": (lambda n: ("SADD", "c", f"member:{n:012}"), lambda n: ("SISMEMBER", "c", f"member:{n:012}"),
            lambda n: ("SMISMEMBER", "c", *(f"member:{m:012}" for m in range(n, n + 100)))),
    "list": (lambda n: ("RPUSH", "c", f"element:{n}"), lambda n: ("LINDEX", "c", str(n)),
             lambda n: ("LRANGE", "c", str(n), str(n + 99))),
    "sorted set": (lambda n: ("ZADD", "c", str(n * 7919 % 1_000_003), f"member:{n:012}"),
                   lambda n: ("ZSCORE", "c", f"member:{n:012}"), lambda n: ("ZRANGE", "c", str(n), str(n + 99))),
    "stream": (lambda n: ("XADD", "c", f"{n + 1}-1", "field", f"value:{n}"),
               lambda n: ("XRANGE", "c", f"{n + 1}-1", f"{n + 1}-1"),
               lambda n: ("XRANGE", "c", f"{n + 1}", "+", "COUNT", "100")),
}


def encode(words):
    parts = [word.encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, *words):
        self.socket.sendall(encode(words))
        return self.reply()

    def reply(self):
        line = self.file.readline()
        if line[:1] == b"-":
            sys.exit(line.decode())
        count = int(line[1:]) if line[:1] in b"$*" else 0
        if line[:1] == b"$" and count >= 0:
            return self.file.read(count + 2)[:-2]
        if line[:1] == b"*" and count >= 0:
            return [self.reply() for _ in range(count)]
        return line


def median_us(connection, requests):
    taken = []
    for request in requests:
        begin = time.perf_counter()
        connection.ask(*request)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken) * 1e6


def measure(command, log, members, make, point, many):
    with Server(command, log) as server:
        connection = Connection(server.port)
        before, cpu_before = server.memory_bytes()["RssAnon"], server.cpu_seconds()
        begin = time.monotonic()
        server.pipe(encode(make(number)) for number in range(members))
        built, cpu = time.monotonic() - begin, server.cpu_seconds() - cpu_before
        memory = (server.memory_bytes()["RssAnon"] - before) / members
        chosen = random.Random(1).sample(range(members - 100), READS)
        point_us = median_us(connection, (point(number) for number in chosen))
        many_us = median_us(connection, (many(number) for number in chosen))
        begin = time.perf_counter()
        connection.ask("DEL", "c")
        deleted_ms = (time.perf_counter() - begin) * 1000
        return built, cpu / members * 1e6, point_us, many_us, deleted_ms, memory


def figures(edgecask, members):
    with tempfile.TemporaryDirectory(prefix="edgecask-million-") as directory:
        for number, (name, how) in enumerate(COLLECTIONS.items()):
            data, log = os.path.join(directory, str(number)), os.path.join(directory, "log")
            os.mkdir(data)
            ours = measure([edgecask, "serve", "--dir", data], log, members, *how)
            redis_data = os.path.join(directory, f"redis{number}")
            os.mkdir(redis_data)
            theirs = measure(["redis-server", "--dir", redis_data, "--save", "", "--appendonly", "yes"], log, members, *how)
            yield name, ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--members", type=int, default=1_000_000)
    options = parser.parse_args()
    print("EdgeCask / Redis")
    print("| collection | build, s | server CPU per member, us | point read, us | range of 100, us | DEL, ms | bytes per member |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, ours, theirs in figures(options.edgecask, options.members):
        formats = ("{:.2f}", "{:.2f}", "{:.0f}", "{:.0f}", "{:.2f}", "{:.0f}")
        cells = [f"{form.format(our)} / {form.format(their)}" for form, our, their in zip(formats, ours, theirs)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
