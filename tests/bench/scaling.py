#!/usr/bin/env python3
"""What a second worker brings: requests a second and processor time, beside one worker and beside redis-server.

All servers run at the same time on empty folders and are measured in turn, in short rounds. Two kinds of load:

- redis-benchmark, a client that fills one core of this machine. On two cores a second worker then has no core of its own,
  so what is wanted is no loss: the default must cost no more a request than `--threads 1`, and serve as many.
- A cheap client: one process that sends the same prepared pipelines over and over and counts the bytes of the replies. It
  leaves most of its core to the server, so a second worker can bring what the client leaves.

Processor time is the server's own accounting (/proc/PID/task/*/schedstat). `busy` is how many workers ran at a time on average:
their processor time by the time that passed. Shown are medians over the rounds; ratios are medians of the rounds' ratios to one worker.

    scaling.py --edgecask target/release/edgecask [--threads 0] [--rounds 5] [--only "HSET,SET -P 16 one key"] [--load both|benchmark|cheap]
               [--seconds 1]
"""

import argparse
import contextlib
import pathlib
import re
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import encode
from servers import Server

CLIENTS = 50
KEYS = 100_000

# Name, and the request with {key} for a random or the hot key.
COMMANDS = {
    "GET": "GET {key}",
    "SET": "SET {key} xxx",
    "HSET": "HSET {key} field:{number} xxx",
    "ZADD": "ZADD {key} 1 member:{number}",
    "LPUSH": "LPUSH {key} xxx",
}
# The cheap client: so many connections, each with so many requests under way.
CHEAP_CONNECTIONS = 16
CHEAP_BATCH = 128
CHEAP_BATCHES = 64


def cases():
    for name in COMMANDS:
        for pipeline in (1, 16):
            for is_hot in (False, True):
                yield name, pipeline, is_hot


def title(name, pipeline, is_hot):
    return f"{name}{' -P 16' if pipeline > 1 else ''}{' one key' if is_hot else ''}"


def threads_of(server):
    """Processor time and time spent waiting for a processor in seconds: of each worker, and of all threads together."""
    workers, everything = {}, 0
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        ran, waited, _ = (int(word) for word in (task / "schedstat").read_text().split())
        everything += ran
        name = (task / "comm").read_text().strip()
        # redis-server serves on its main thread.
        if name.startswith("worker") or name.startswith("redis-server"):
            workers[name] = (ran / 1e9, waited / 1e9)
    return workers, everything / 1e9


def sampled(server, load, count):
    """One sample: what the load says, and the accounts of the server while it ran."""
    # A server that follows its load has done so when the clock starts.
    load(server, max(1, count * 2 // 5))
    workers, everything = threads_of(server)
    begin = time.monotonic()
    count, client_s = load(server, count)
    took = time.monotonic() - begin
    workers_after, everything_after = threads_of(server)
    ran = sum(workers_after[name][0] - workers[name][0] for name in workers)
    waited = sum(workers_after[name][1] - workers[name][1] for name in workers)
    return {"rps": count / took, "cpu_us": (everything_after - everything) / count * 1e6, "busy": ran / took,
            "waited": waited / took, "client": client_s / took}


def benchmark(server, name, pipeline, is_hot, count):
    key = "key" if is_hot else "key:__rand_int__"
    words = COMMANDS[name].format(key=key, number="__rand_int__").split()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(
        ["redis-benchmark", "-p", str(server.port), "-c", str(CLIENTS), "-n", str(count), "-r", str(KEYS), "-P",
         str(pipeline), "-q", *words], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "error" in output.lower():
        sys.exit(output)
    return count, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cheap(server, name, is_hot, count):
    """Sends prepared pipelines until about `count` requests are answered."""
    batches = []
    for batch in range(CHEAP_BATCHES):
        numbers = (batch * CHEAP_BATCH + place for place in range(CHEAP_BATCH))
        batches.append(b"".join(
            encode(*COMMANDS[name].format(key="key" if is_hot else f"key:{number * 7919 % KEYS:012}",
                                          number=number).split()) for number in numbers))
    rounds = max(1, count // (CHEAP_CONNECTIONS * CHEAP_BATCH))
    before = resource.getrusage(resource.RUSAGE_SELF)
    with contextlib.ExitStack() as stack:
        waiting = stack.enter_context(selectors.DefaultSelector())
        buffer = bytearray(1 << 18)
        for number in range(CHEAP_CONNECTIONS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # Where its next batch is, batches left, and replies that it waits for.
            state = [number * CHEAP_BATCHES // CHEAP_CONNECTIONS, rounds, 0]
            waiting.register(connection, selectors.EVENT_READ, state)
            connection.sendall(batches[state[0]])
            state[2] = CHEAP_BATCH
        left = CHEAP_CONNECTIONS
        # Every reply here is one line but a value's, which is two.
        lines = 2 if name == "GET" else 1
        for key in waiting.get_map().values():
            key.data[2] *= lines
        while left:
            for key, _ in waiting.select():
                connection, state = key.fileobj, key.data
                taken = connection.recv_into(buffer)
                if taken == 0:
                    sys.exit("a connection was closed")
                state[2] -= buffer.count(b"\n", 0, taken)
                if state[2] == 0:
                    state[1] -= 1
                    if state[1] == 0:
                        left -= 1
                        continue
                    state[0] = (state[0] + 1) % CHEAP_BATCHES
                    connection.sendall(batches[state[0]])
                    state[2] = CHEAP_BATCH * lines
    after = resource.getrusage(resource.RUSAGE_SELF)
    return (rounds * CHEAP_CONNECTIONS * CHEAP_BATCH,
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def filled(server, name, is_hot):
    """Every key that a GET asks for is there."""
    if name == "GET":
        keys = ["key"] if is_hot else [f"key:{number:012}" for number in range(KEYS)]
        server.pipe(encode("SET", key, "xxx") for key in keys)


def row(case, servers, rounds, seconds, load):
    """Measures one case on all servers, and prints its row."""
    name, pipeline, is_hot = case
    for server in servers.values():
        server.call("FLUSHALL")
        filled(server, name, is_hot)
    # As many requests as take the time wanted with one worker.
    count = 2_000 * pipeline
    for _ in range(2):
        speed = sampled(servers["one"], load, count)["rps"]
        count = max(2_000, int(speed * seconds))
    samples = {label: [] for label in servers}
    for turn in range(rounds):
        labels = list(servers)
        for label in labels[turn % len(labels):] + labels[:turn % len(labels)]:
            samples[label].append(sampled(servers[label], load, count))

    def middle(label, field):
        return statistics.median(sample[field] for sample in samples[label])

    def ratio(label, field):
        return statistics.median(other[field] / one[field] for other, one in zip(samples[label], samples["one"]))

    cells = [title(*case)]
    for label in servers:
        cells.append(f"{middle(label, 'rps'):,.0f}")
        if label != "one":
            cells.append(f"{ratio(label, 'rps'):.2f}")
        cells.append(f"{middle(label, 'cpu_us'):.2f}")
        if label != "one":
            cells.append(f"{ratio(label, 'cpu_us'):.2f}")
        cells.append(f"{middle(label, 'busy'):.2f}")
        cells.append(f"{middle(label, 'waited'):.2f}")
        cells.append(f"{middle(label, 'client'):.2f}")
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--threads", default="0", help="of the server beside the one with one worker [default: 0, the processors]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="that one measurement takes with one worker")
    parser.add_argument("--only", default="", help="cases, separated by commas")
    parser.add_argument("--load", choices=["both", "benchmark", "cheap"], default="both")
    parser.add_argument("--no-redis", action="store_true", help="leave redis-server out")
    options = parser.parse_args()
    wanted = [name.strip() for name in options.only.split(",") if name.strip()]
    with tempfile.TemporaryDirectory(prefix="edgecask-scaling-") as folder, contextlib.ExitStack() as stack:
        def started(label, command):
            data = pathlib.Path(folder, label)
            data.mkdir()
            return stack.enter_context(Server([*command, "--dir", str(data)], f"{data}.log"))

        servers = {"one": started("one", [options.edgecask, "serve", "--threads", "1"]),
                   "default": started("default", [options.edgecask, "serve", "--threads", options.threads])}
        if not options.no_redis:
            servers["redis"] = started("redis", ["redis-server", "--save", "", "--appendonly", "yes"])
        columns = ["case"]
        for label in servers:
            columns.append(f"{label}: requests/s")
            columns += [] if label == "one" else ["of one"]
            columns.append("CPU µs")
            columns += [] if label == "one" else ["of one"]
            columns += ["busy", "waiting", "client"]
        for kind in ("benchmark", "cheap"):
            if options.load not in ("both", kind):
                continue
            print(f"\n{kind}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
            for case in cases():
                name, pipeline, is_hot = case
                if wanted and title(*case) not in wanted:
                    continue
                if kind == "benchmark":
                    row(case, servers, options.rounds, options.seconds,
                        lambda server, count: benchmark(server, name, pipeline, is_hot, count))
                elif pipeline == 1:
                    # Its pipelines are long in any case.
                    row(case, servers, options.rounds, options.seconds,
                        lambda server, count: cheap(server, name, is_hot, count))


if __name__ == "__main__":
    main()
