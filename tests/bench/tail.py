#!/usr/bin/env python3
"""How late GET and SET are while a server syncs, merges, writes hints, rewrites, frees and expires, beside redis-server.

    tail.py --edgecask target/release/edgecask [--only merge,everysec] [--seconds 5] [--rate 20000]

A probe sends a SET and a GET every millisecond beside a mixed load: GET and SET of 100 B, random keys, at a fixed rate that
leaves the machine time. One server runs at a time. Shown are milliseconds. A probe that waited through the times of others
counts for those as well.

`ours` is the longest wait that the scheduler does not explain: of each late probe the time is taken off for which the probe
itself, or the thread that serves it, was ready to run and had no processor (/proc/PID/task/TID/schedstat). `over 10` counts
such waits of more than 10 ms. `delay ms` is for how long all threads of the server were so, in the whole phase.
"""

import argparse
import contextlib
import math
import multiprocessing
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import Server

KEYS = 100_000
VALUE = b"x" * 100
PERIOD_S = 0.001
# A wait from so long on is looked at.
LATE_S = 0.002
LONG_S = 0.010
# Pipelines of the load that may be on their way.
LOAD_CONNECTIONS = 4
PATIENCE_S = 120
MANY_FIELDS = 1_000_000
EXPIRING = 100_000
# What the writer of large values adds, and in which pieces.
FLOOD_BYTES_PER_SECOND = 20_000_000
FLOOD_VALUE = b"y" * 4096
FLOOD_PIPELINE = 16


SETS = [encode("SET", b"key:%06d" % number, VALUE) for number in range(KEYS)]
GETS = [encode("GET", b"key:%06d" % number) for number in range(KEYS)]


class Client(Connection):
    """A connection whose replies are statuses, numbers and values."""

    def __init__(self, port):
        super().__init__(port, PATIENCE_S)

    def reply(self):
        line = super().reply()
        if line[:1] not in (b"+", b":", b"$"):
            raise SystemExit(f"a reply was {line!r}")
        return line

    def pipeline(self, requests):
        self.send(b"".join(requests))
        for _ in requests:
            self.reply()


def load(port, rate, seed, ready, stop):
    """Half GET and half SET, at this rate: a pipeline each millisecond, fewer if the server does not keep up."""
    chance = random.Random(seed)
    clients = [Client(port) for _ in range(LOAD_CONNECTIONS)]
    owed = [0] * LOAD_CONNECTIONS
    ready.set()
    count, due = max(1, round(rate * PERIOD_S)), time.monotonic()
    while not stop.is_set():
        for at, client in enumerate(clients):
            for _ in range(owed[at]):
                client.reply()
            requests = [chance.choice(SETS if chance.random() < 0.5 else GETS) for _ in range(count)]
            client.send(b"".join(requests))
            owed[at] = count
            due = max(due + PERIOD_S, time.monotonic() - PERIOD_S)
            time.sleep(max(0, due - time.monotonic()))


def flood(client, begin, end):
    """Large values beside the load."""
    requests = [encode("SET", b"large:%04d" % number, FLOOD_VALUE) for number in range(4096)]
    period = FLOOD_PIPELINE * len(FLOOD_VALUE) / FLOOD_BYTES_PER_SECOND
    while (now := time.monotonic()) < end:
        client.pipeline(random.sample(requests, FLOOD_PIPELINE))
        time.sleep(max(0, now + period - time.monotonic()))


def rewrite(client, begin, end):
    """BGREWRITEAOF as often as it is answered: one that runs already refuses the next."""
    while time.monotonic() < end:
        client.send(b"BGREWRITEAOF\r\n")
        client.file.readline()
        time.sleep(0.5)


def many_fields(client, name, count):
    for first in range(0, count, 1000):
        fields = (b"field:%07d" % number for number in range(first, first + 1000))
        client.call("HSET", name, *(word for field in fields for word in (field, b"v")))


def fill_giant(client, seconds):
    many_fields(client, "giant", MANY_FIELDS)
    many_fields(client, "second", MANY_FIELDS)


def free(client, begin, end):
    """UNLINK of a giant key, FLUSHALL ASYNC of all others."""
    third = (end - begin) / 3
    time.sleep(max(0, begin + third / 2 - time.monotonic()))
    client.call("UNLINK", "giant")
    time.sleep(max(0, begin + 2 * third - time.monotonic()))
    client.call("FLUSHALL", "ASYNC")


def fill_expiring(client, seconds):
    """Keys that all expire in the middle of the measurement, a moment after this."""
    at_ms = int((time.time() + 3 + seconds / 2) * 1000)
    for first in range(0, EXPIRING, 500):
        client.pipeline([encode("SET", b"short:%06d" % number, VALUE, "PXAT", at_ms)
                         for number in range(first, first + 500)])
    # Filling must not decide how much of the measurement comes before.
    time.sleep(max(0, at_ms / 1000 - seconds / 2 - time.time()))


class Phase:
    def __init__(self, ours, theirs, act=None, fill=None):
        self.ours, self.theirs, self.act, self.fill = ours, theirs, act, fill


EVERYSEC = ["--appendfsync", "everysec"]
PHASES = {
    "quiet": Phase(["--appendfsync", "no"], ["--appendfsync", "no"]),
    "everysec": Phase(EVERYSEC, EVERYSEC),
    # Rotation and merge all the time, and rewrites by growth.
    "merge": Phase([*EVERYSEC, "--datafile-max-bytes", "1mb"],
                   [*EVERYSEC, "--auto-aof-rewrite-min-size", "1mb", "--auto-aof-rewrite-percentage", "10"]),
    # Hints are written ahead every 8 MB, and datafiles of a usual size become full.
    "hints": Phase([*EVERYSEC, "--datafile-max-bytes", "32mb"],
                   [*EVERYSEC, "--auto-aof-rewrite-min-size", "32mb"], flood),
    "rewrite": Phase(EVERYSEC, EVERYSEC, rewrite),
    "free": Phase(EVERYSEC, EVERYSEC, free, fill_giant),
    "expiry": Phase(EVERYSEC, EVERYSEC, None, fill_expiring),
}


class Schedstat:
    """How long a thread has run, and was ready to run and had no processor, in seconds."""

    def __init__(self, task):
        self.file = open(task / "schedstat", "rb", buffering=0)

    def both(self):
        ran, waited, _ = os.pread(self.file.fileno(), 100, 0).split()
        return int(ran) / 1e9, int(waited) / 1e9


def tasks(pid):
    return pathlib.Path(f"/proc/{pid}/task").iterdir()


def serving(pid, client):
    """The thread that serves a connection: the one that runs most while nobody else asks anything."""
    threads = [Schedstat(task) for task in tasks(pid)]
    before = [thread.both()[0] for thread in threads]
    for _ in range(2000):
        client.call("PING")
    return max(zip(threads, before), key=lambda pair: pair[0].both()[0] - pair[1])[0]


def all_waited_s(pid):
    waited = 0
    for task in tasks(pid):
        # A thread may have ended.
        with contextlib.suppress(OSError):
            waited += Schedstat(task).both()[1]
    return waited


def probe(client, thread, seconds):
    """Latencies of SET and GET, and the late ones with the part that the scheduler does not explain."""
    chance, latencies, late = random.Random(7), {"SET": [], "GET": []}, []
    this = Schedstat(pathlib.Path("/proc/thread-self"))
    begin = due = time.monotonic()
    while due < begin + seconds:
        time.sleep(max(0, due - time.monotonic()))
        for name, requests in (("SET", SETS), ("GET", GETS)):
            request = chance.choice(requests)
            waited = thread.both()[1] + this.both()[1]
            sent = time.monotonic()
            client.send(request)
            client.reply()
            took = time.monotonic() - sent
            latencies[name].append(took)
            if took >= LATE_S:
                # The probes that would have been sent meanwhile.
                latencies[name].extend(took - PERIOD_S * missed for missed in range(1, int(took / PERIOD_S) + 1))
                waited = thread.both()[1] + this.both()[1] - waited
                late.append((max(0, took - waited), took, name, sent - begin))
        due = max(due + PERIOD_S, time.monotonic() - PERIOD_S)
    return latencies, late


def act(port, what, begin, end):
    client = Client(port)
    time.sleep(max(0, begin - time.monotonic()))
    what(client, begin, end)


def measure(command, phase, log, options):
    fork = multiprocessing.get_context("fork")
    with Server(command, log) as server:
        client = Client(server.port)
        for first in range(0, KEYS, 500):
            client.pipeline(SETS[first:first + 500])
        thread = serving(server.process.pid, client)
        if phase.fill:
            phase.fill(client, options.seconds)
        ready, stop = fork.Event(), fork.Event()
        workers = [fork.Process(target=load, args=(server.port, options.rate, 3, ready, stop))]
        workers[0].start()
        ready.wait(PATIENCE_S)
        time.sleep(0.3)
        begin = time.monotonic()
        if phase.act:
            workers.append(fork.Process(target=act, args=(server.port, phase.act, begin, begin + options.seconds)))
            workers[1].start()
        try:
            waited = all_waited_s(server.process.pid)
            latencies, late = probe(client, thread, options.seconds)
            return latencies, late, all_waited_s(server.process.pid) - waited
        finally:
            stop.set()
            for worker in workers:
                worker.join()
            if any(worker.exitcode for worker in workers):
                sys.exit("the load was answered an error")


def line(name, server, measured):
    latencies, own, delay_s = measured
    cells = []
    for command in ("GET", "SET"):
        ordered = sorted(latencies[command])
        shares = [ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.99, 0.999, 1)]
        cells.append("".join(f"{share * 1000:8.2f}" for share in shares))
    worst = max((wait for wait, *_ in own), default=0)
    long = sum(wait > LONG_S for wait, *_ in own)
    return f"{name:10}{server:10}" + " ".join(cells) + f"{worst * 1000:8.1f}{long:8}{delay_s * 1000:10.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True, action="append", help="may be repeated, to compare builds")
    parser.add_argument("--edgecask-args", default="", help="further arguments of EdgeCask")
    parser.add_argument("--redis", default="redis-server", help="empty: not measured")
    parser.add_argument("--only", help="names of phases: " + ", ".join(PHASES))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rate", type=int, default=20_000, help="requests a second of the load")
    parser.add_argument("--late", action="store_true", help="also show each late probe")
    parser.add_argument("--dir", help="where the servers' folders are made")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(PHASES)
    if unknown := set(names) - set(PHASES):
        parser.error(f"there is no phase {', '.join(unknown)}")
    columns = "".join(f"{column:>8}" for column in ("p50", "p99", "p99.9", "max"))
    print(f"{'':20}{'GET':>32} {'SET':>32}")
    print(f"{'phase':10}{'server':10}{columns} {columns}{'ours':>8}{'over 10':>8}{'delay ms':>10}", flush=True)
    for name in names:
        phase = PHASES[name]
        with tempfile.TemporaryDirectory(prefix="edgecask-tail-", dir=options.dir) as folder:
            folder = pathlib.Path(folder)
            commands = []
            for number, binary in enumerate(options.edgecask):
                called = "EdgeCask" if len(options.edgecask) == 1 else f"build {number + 1}"
                commands.append((called, [binary, "serve", "--dir", str(folder / called), *phase.ours,
                                          *options.edgecask_args.split()]))
            if options.redis:
                commands.append(("Redis", [options.redis, "--dir", str(folder), "--save", "", "--appendonly", "yes",
                                           *phase.theirs]))
            for called, command in commands:
                measured = measure(command, phase, folder / "log", options)
                print(line(name, called, measured), flush=True)
                for wait, took, command, at in measured[1] if options.late else []:
                    print(f"    {command} at {at:.3f} s took {took * 1000:.1f} ms, {wait * 1000:.1f} of them ours")


if __name__ == "__main__":
    main()
