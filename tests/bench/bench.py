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
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

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


def compare(servers, case, options):
    """Measures one case on both servers by turns and prints it: its name, EdgeCask's medians, Redis'."""
    name, arguments, requests = case
    requests = max(1000, int(requests * options.scale))
    samples = {server: [] for server in servers}
    for _ in range(options.rounds):
        for server in servers:
            samples[server].append(measure(servers[server], arguments, requests))
    ours, theirs = medians(samples["edgecask"]), medians(samples["redis"])
    print(f"{name:16} {ours['rps']:>10.0f} {theirs['rps']:>10.0f} x{ours['rps'] / theirs['rps']:.2f}"
          f"   cpu {ours['cpu_us']:.2f} {theirs['cpu_us']:.2f} µs x{ours['cpu_us'] / theirs['cpu_us']:.2f}",
          flush=True)
    return name, ours, theirs


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
    if not shutil.which("redis-server"):
        sys.exit("redis-server is not installed")
    wanted = [name.strip() for name in options.only.split(",") if name.strip()]
    cases = [case for case in CASES if not wanted or case[0] in wanted]
    policy = options.appendfsync
    with tempfile.TemporaryDirectory(prefix="edgecask-bench-") as folder:
        data, redis_data = os.path.join(folder, "data"), os.path.join(folder, "redis")
        os.mkdir(redis_data)
        ours = [options.edgecask, "serve", "--dir", data, "--appendfsync", policy, *options.edgecask_args.split()]
        theirs = ["redis-server", "--dir", redis_data, "--save", "", "--appendonly", "yes", "--appendfsync", policy]
        with Server(ours, data + ".log") as edgecask, Server(theirs, redis_data + ".log") as redis:
            servers = {"edgecask": edgecask, "redis": redis}
            results = [compare(servers, case, options) for case in cases]
            memory = {name: server.memory_bytes() for name, server in servers.items()}
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
