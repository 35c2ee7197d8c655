#!/usr/bin/env python3
"""What hostile scripts do to other clients, and how soon each of them ends after SCRIPT KILL.

    hostile_scripts.py --edgecask target/release/edgecask [--seconds 10] [--deadline-ms 100] [--clients 4]

The scripts of core/lua/tests/hostile/scripts.txt run one after the other, each with one key; a script that still runs
at its deadline is killed from another connection. Some clients, each a process of its own, do GET and SET on keys of
their own meanwhile, one request at a time with a short pause; their latencies are taken with and without the scripts,
by turns. One key in 64 shares its lock with that of the scripts, and who wants it waits for them: these keys are found
out first, and left out unless there is --all-keys.
"""

import argparse
import multiprocessing
import pathlib
import select
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from resp import Connection, encode
from servers import Server

KEYS = 400
PAUSE_S = 0.0005
PATIENCE_S = 30
LATE_MS = 20


def has_reply(connection, within_s):
    """Whether a reply begins in so many seconds."""
    return bool(select.select([connection.socket], [], [], within_s)[0])


def free_keys(port, count):
    """Keys that do not share their lock with the key of the scripts."""
    runner, killer = Connection(port, PATIENCE_S), Connection(port, PATIENCE_S)
    runner.send(encode("EVAL", "while true do end", 1, "hostile"))
    clients = b""
    while b"cmd=eval" not in clients:
        killer.send(encode("CLIENT", "LIST"))
        clients = killer.value()
    time.sleep(0.05)
    asked = [(f"key {number}", Connection(port, PATIENCE_S)) for number in range(count)]
    for key, connection in asked:
        connection.send(encode("EXISTS", key))
    time.sleep(0.5)
    free = [key for key, connection in asked if has_reply(connection, 0)]
    killer.call("SCRIPT", "KILL")
    runner.reply()
    return free


def client(port, keys, until, latencies):
    """Does GET and SET until a time; gives the latencies in microseconds."""
    connection = Connection(port, PATIENCE_S)
    requests = [(encode("SET", key, "value"), encode("GET", key)) for key in keys]
    took, at = [], 0
    while time.monotonic() < until:
        for one in requests[at % len(requests)]:
            begin = time.perf_counter_ns()
            connection.send(one)
            reply = connection.reply()
            took.append((time.perf_counter_ns() - begin) // 1000)
            if not reply.startswith((b"+OK", b"$5")):
                raise SystemExit(f"{reply!r} to {one!r}")
            time.sleep(PAUSE_S)
        at += 1
    latencies.put(took)


def percentile(sorted_values, percent):
    return sorted_values[min(len(sorted_values) - 1, len(sorted_values) * percent // 100)]


def with_clients(port, keys, seconds, work):
    """Calls `work` again and again while clients are served; gives p50, p99 and the largest of their latencies."""
    latencies = multiprocessing.Queue()
    until = time.monotonic() + seconds
    processes = [
        multiprocessing.Process(target=client, args=(port, of_one, until, latencies)) for of_one in keys
    ]
    for process in processes:
        process.start()
    while time.monotonic() < until:
        work(until)
    took = sorted(value for _ in processes for value in latencies.get(timeout=PATIENCE_S))
    for process in processes:
        process.join()
    return percentile(took, 50), percentile(took, 99), took[-1], len(took)


class Hostile:
    """Runs the scripts, and notes how late each ended."""

    def __init__(self, port, deadline_ms):
        self.port, self.deadline_s = port, deadline_ms / 1000
        entries = (ROOT / "core/lua/tests/hostile/scripts.txt").read_text().rstrip().split("\n----\n")
        split = [entry.split("\n", 1) for entry in entries]
        self.scripts = [(head.removeprefix("-- ").rsplit(": ", 1)[0], script) for head, script in split]
        self.runner, self.killer = Connection(port, PATIENCE_S), Connection(port, PATIENCE_S)
        self.next, self.late_ms, self.ended, self.killed = 0, {}, set(), 0

    def one(self, until):
        name, script = self.scripts[self.next % len(self.scripts)]
        self.next += 1
        self.runner.send(encode("EVAL", script, 1, "hostile"))
        if has_reply(self.runner, self.deadline_s):
            self.runner.reply()
            self.ended.add(name)
            return
        begin = time.perf_counter()
        told = self.killer.ask("SCRIPT", "KILL")
        if told.startswith(b"-NOTBUSY"):
            self.ended.add(name)
        elif not told.startswith(b"+OK"):
            raise SystemExit(f"{name}: {told!r}")
        self.runner.reply()
        late_ms = (time.perf_counter() - begin) * 1000
        self.late_ms[name] = max(late_ms, self.late_ms.get(name, 0))
        self.killed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deadline-ms", type=float, default=100)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--all-keys", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [options.edgecask, "serve", "--dir", folder]
        with Server(command, pathlib.Path(folder) / "log") as server:
            hostile = Hostile(server.port, options.deadline_ms)
            keys = [f"key {number}" for number in range(KEYS)] if options.all_keys else free_keys(server.port, KEYS)
            print(f"{KEYS - len(keys)} of {KEYS} keys share the lock of the scripts' key and are left out")
            keys = [keys[number::options.clients] for number in range(options.clients)]
            ratios = []
            for number in range(options.rounds):
                calm = with_clients(server.port, keys, options.seconds,
                                    lambda until: time.sleep(max(0, until - time.monotonic())))
                busy = with_clients(server.port, keys, options.seconds, hostile.one)
                ratios.append(busy[1] / calm[1])
                for title, (p50, p99, most, count) in (("without", calm), ("with", busy)):
                    print(f"round {number + 1}, {title:7} scripts: p50 {p50} µs, p99 {p99} µs, most {most} µs, "
                          f"{count} requests")
                print(f"round {number + 1}: p99 {ratios[-1]:.2f} times")
            late = sorted(hostile.late_ms.items(), key=lambda item: item[1])
            print(f"{len(hostile.scripts)} scripts, {hostile.next} runs, {hostile.killed} killed")
            if late:
                print(f"from SCRIPT KILL to the script's reply: p50 {late[len(late) // 2][1]:.1f} ms, "
                      f"most {late[-1][1]:.1f} ms ({late[-1][0]})")
                print(f"later than {LATE_MS} ms:", [name for name, late_ms in late if late_ms > LATE_MS])
            checked = Connection(server.port, PATIENCE_S)
            checked.send(encode("EVAL", "return redis.call('ECHO', 'alive')", 0))
            if checked.value() != b"alive":
                sys.exit("no script runs any more")
    print(f"p99 with the scripts: {sorted(ratios)[len(ratios) // 2]:.2f} times that without")
    if late and late[-1][1] > LATE_MS:
        sys.exit(f"a script ended later than {LATE_MS} ms after SCRIPT KILL")


if __name__ == "__main__":
    main()
