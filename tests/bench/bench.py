#!/usr/bin/env python3
"""EdgeCask beside redis-server, in one run, on this machine.

Both servers run all the time; each case is measured on one after the other, round by round, so that a machine that
drifts drifts for both. Throughput and latency are redis-benchmark's, CPU is the server's own accounting
(/proc/PID/stat, user and system, all threads), memory is RssAnon and RssFile. What is printed are medians over the
rounds, and the ratio of the medians.

    bench.py --edgecask target/release/edgecask [--rounds 5] [--only GET,SET] [--out bench]
"""

import argparse
import csv
import io
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

CLOCK_TICK = os.sysconf("SC_CLK_TCK")

# name, redis-benchmark arguments, requests a round
CASES = [
    ("SET 3 B", ["-t", "set", "-d", "3", "-c", "50", "-r", "100000000"], 300_000),
    ("GET 3 B", ["-t", "get", "-d", "3", "-c", "50", "-r", "100000000"], 300_000),
    ("SET 3 B -P 16", ["-t", "set", "-d", "3", "-c", "50", "-r", "100000000", "-P", "16"], 2_000_000),
    ("GET 3 B -P 16", ["-t", "get", "-d", "3", "-c", "50", "-r", "100000000", "-P", "16"], 3_000_000),
    ("INCR", ["-t", "incr", "-c", "50", "-r", "1000000"], 200_000),
    ("HSET", ["-t", "hset", "-c", "50", "-r", "1000000"], 200_000),
    ("LPUSH", ["-t", "lpush", "-c", "50"], 200_000),
    ("LPOP", ["-t", "lpop", "-c", "50"], 200_000),
    ("SADD", ["-t", "sadd", "-c", "50", "-r", "1000000"], 200_000),
    ("ZADD", ["-t", "zadd", "-c", "50", "-r", "1000000"], 200_000),
    ("LRANGE_100", ["-t", "lrange_100", "-c", "50"], 50_000),
    ("MSET (10 keys)", ["-t", "mset", "-c", "50", "-r", "1000000"], 100_000),
    ("SET 2 kB", ["-t", "set", "-d", "2000", "-c", "50", "-r", "100000"], 200_000),
    ("GET 2 kB", ["-t", "get", "-d", "2000", "-c", "50", "-r", "100000"], 200_000),
    ("SET 20 kB", ["-t", "set", "-d", "20000", "-c", "50", "-r", "2000"], 50_000),
    ("GET 20 kB", ["-t", "get", "-d", "20000", "-c", "50", "-r", "2000"], 50_000),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process on a free loopback port with a directory of its own."""

    def __init__(self, name, command_for):
        self.name = name
        self.port = free_port()
        self.directory = tempfile.mkdtemp(prefix="edgecask-bench-")
        self.log = open(os.path.join(self.directory, "server.log"), "w")
        self.process = subprocess.Popen(
            command_for(self.port, self.directory), stdout=self.log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 20
        while self.call("PING") != b"+PONG\r\n":
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit(f"{name} did not start: {open(self.log.name).read()}")
            time.sleep(0.05)

    def call(self, line):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                client.sendall(line.encode() + b"\r\n")
                return client.recv(65536)
        except OSError:
            return b""

    def cpu_seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICK

    def memory_bytes(self):
        status = dict(line.split(":", 1) for line in open(f"/proc/{self.process.pid}/status") if ":" in line)
        return {name: int(status[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile")}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def measure(server, arguments, requests):
    """One redis-benchmark run: requests a second, p50/p99 in ms, server CPU in µs a request."""
    before = server.cpu_seconds()
    output = subprocess.run(
        ["redis-benchmark", "-h", "127.0.0.1", "-p", str(server.port), "--csv", "-n", str(requests), *arguments],
        check=True, capture_output=True, text=True).stdout
    cpu = server.cpu_seconds() - before
    row = list(csv.DictReader(io.StringIO(output)))[-1]
    return {
        "rps": float(row["rps"]),
        "p50_ms": float(row["p50_latency_ms"]),
        "p99_ms": float(row["p99_latency_ms"]),
        "cpu_us": cpu / requests * 1e6,
    }


def medians(samples):
    return {key: statistics.median(sample[key] for sample in samples) for key in samples[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of requests")
    parser.add_argument("--only", default="", help="comma-separated case names")
    parser.add_argument("--appendfsync", default="everysec")
    parser.add_argument("--edgecask-args", default="", help="further arguments for edgecask serve")
    parser.add_argument("--out", default="bench")
    options = parser.parse_args()
    redis = shutil.which("redis-server") or sys.exit("redis-server is not installed")
    wanted = [name.strip() for name in options.only.split(",") if name.strip()]
    cases = [case for case in CASES if not wanted or case[0] in wanted]
    policy = options.appendfsync
    servers = [
        Server("edgecask", lambda port, directory: [
            options.edgecask, "serve", "-p", str(port), "-d", directory + "/data", "--appendfsync", policy,
            *options.edgecask_args.split()]),
        Server("redis", lambda port, directory: [
            redis, "--port", str(port), "--dir", directory, "--save", "", "--appendonly", "yes",
            "--appendfsync", policy, "--daemonize", "no"]),
    ]
    results = []
    try:
        for name, arguments, requests in cases:
            requests = max(1000, int(requests * options.scale))
            samples = {server.name: [] for server in servers}
            for _ in range(options.rounds):
                for server in servers:
                    samples[server.name].append(measure(server, arguments, requests))
            ours, theirs = medians(samples["edgecask"]), medians(samples["redis"])
            results.append((name, ours, theirs))
            print(f"{name:16} {ours['rps']:>10.0f} {theirs['rps']:>10.0f} x{ours['rps'] / theirs['rps']:.2f}"
                  f"   cpu {ours['cpu_us']:.2f} {theirs['cpu_us']:.2f} µs x{ours['cpu_us'] / theirs['cpu_us']:.2f}",
                  flush=True)
        memory = {server.name: server.memory_bytes() for server in servers}
    finally:
        for server in servers:
            server.stop()
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w") as out:
        json.dump({"results": results, "memory": memory, "policy": policy, "rounds": options.rounds}, out, indent=1)
    with open(os.path.join(options.out, "results.md"), "w") as out:
        out.write(f"EdgeCask beside redis-server, both `appendfsync {policy}`; medians of {options.rounds} "
                  "interleaved rounds.\n\n")
        out.write("| case | requests/s | Redis | ratio | CPU µs/request | Redis | ratio | p50 / p99 ms | Redis |\n")
        out.write("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
        for name, ours, theirs in results:
            out.write(
                f"| {name} | {ours['rps']:.0f} | {theirs['rps']:.0f} | {ours['rps'] / theirs['rps']:.2f} "
                f"| {ours['cpu_us']:.2f} | {theirs['cpu_us']:.2f} | {ours['cpu_us'] / theirs['cpu_us']:.2f} "
                f"| {ours['p50_ms']:.2f} / {ours['p99_ms']:.2f} | {theirs['p50_ms']:.2f} / {theirs['p99_ms']:.2f} |\n")
        for name, bytes_by_kind in memory.items():
            out.write(f"\nMemory of {name} at the end: " + ", ".join(
                f"{kind} {size / 1e6:.0f} MB" for kind, size in bytes_by_kind.items()) + ".\n")


if __name__ == "__main__":
    main()
