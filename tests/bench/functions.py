#!/usr/bin/env python3
"""What a script or function costs whose only command is a GET, beside a GET: processor time of the server for each request.

    .build/venv/bin/python tests/bench/functions.py [--edgecask target/release/edgecask] [--rounds 5] [--requests 400000]

redis-benchmark, 50 connections, pipelines of 16, one of 10,000 keys with 64 bytes at random, all kinds of requests by turns on one
server; the median of the rounds. redis-server gets those that it knows. The function as WebAssembly is `get` of
core/wasm/tests/guests/functions.wat; the program has to have the feature wasm-functions.
"""

import argparse
import hashlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import wasmtime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import Server

import peers

KEYS, VALUE_BYTES = 10_000, 64
SCRIPT = "return redis.call('GET', KEYS[1])"
LUA = "#!lua name=look\nredis.register_function('look', function(keys) return redis.call('GET', keys[1]) end)"
MODULE = peers.REPOSITORY / "core/wasm/tests/guests/functions.wat"
KEY = "key:__rand_int__"

REQUESTS = {
    "GET": ["GET", KEY],
    "EVALSHA": ["EVALSHA", hashlib.sha1(SCRIPT.encode()).hexdigest(), "1", KEY],
    "FCALL of Lua": ["FCALL", "look", "1", KEY],
    "FCALL of WebAssembly": ["FCALL", "get", "1", KEY],
}


def prepare(server, is_ours):
    client = Connection(server.port, 60)
    for number in range(KEYS):
        client.send(encode("SET", f"key:{number:012}", "v" * VALUE_BYTES))
    for number in range(KEYS):
        client.reply()
    client.call("SCRIPT", "LOAD", SCRIPT)
    client.call("FUNCTION", "LOAD", LUA)
    if is_ours:
        client.call("FUNCTION", "LOAD", b"#!wasm name=guest\n" + wasmtime.wat2wasm(MODULE.read_text()))


def cost_ns(server, request, count):
    before = server.cpu_seconds()
    subprocess.run(["redis-benchmark", "-p", str(server.port), "-c", "50", "-P", "16", "-n", str(count), "-r", str(KEYS), "-q",
                    *request], check=True, stdout=subprocess.DEVNULL)
    return (server.cpu_seconds() - before) / count * 1e9


def measure(name, options, folder):
    log = os.path.join(folder, f"{name}.log")
    with Server(peers.command(name, folder, options), log) as server:
        prepare(server, name == "edgecask")
        kinds = {kind: request for kind, request in REQUESTS.items() if name == "edgecask" or "WebAssembly" not in kind}
        found = {kind: [] for kind in kinds}
        for _ in range(options.rounds):
            for kind, request in kinds.items():
                found[kind].append(cost_ns(server, request, options.requests))
    plain = statistics.median(found["GET"])
    for kind, costs in found.items():
        cost = statistics.median(costs)
        print(f"{peers.TITLES[name]:10} {kind:22} {cost:6.0f} ns of CPU, {cost - plain:6.0f} more than GET", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    peers.add_options(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=400_000)
    options = parser.parse_args()
    peers.check(options, "redis-benchmark")
    for name in ("edgecask", "redis"):
        with tempfile.TemporaryDirectory() as folder:
            measure(name, options, folder)


if __name__ == "__main__":
    main()
