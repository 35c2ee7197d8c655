#!/usr/bin/env python3
"""JSON documents of 1, 10 and 100 kB on one worker, beside hashes with as many fields: operations a second, processor time, log.

    documents.py --edgecask target/release/edgecask [--requests 200000] [--rounds 3] [--only ARRAPPEND]

redis-benchmark sends each command with 4 connections and pipelines of 32 to 200 keys at random. The document of a size has rows
`{"id":7,"name":"…","price":1.5,"tags":["a","b"]}` in an array, and an empty array `log`; the hash has a field for each of their names. Shown are medians of the
rounds: operations a second, the server's processor time and bytes of its log for each. redis-server has its log with everysec, and no documents.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import encode
from servers import Server

SIZES_KB = (1, 10, 100)
KEYS = 200
CONNECTIONS, PIPELINE = 4, 32
KEY = "__rand_int__"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", default="target/release/edgecask")
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the commands with this in their name")
    options = parser.parse_args()
    print(f"{'size':>6}  {'command':34}{'ops/s':>10}{'us of CPU':>11}{'log bytes':>11}")
    for size_kb in SIZES_KB:
        for name, words, systems in cases(size_kb):
            if options.only not in name:
                continue
            for system in systems:
                results = [measure(options, system, size_kb, words) for _ in range(options.rounds)]
                rate, cpu_us, log_bytes = (statistics.median(column) for column in zip(*results))
                title = name if system == "edgecask" else f"{name} (redis-server)"
                print(f"{size_kb:>3} kB  {title:34}{rate:>10,.0f}{cpu_us:>11.2f}{log_bytes:>11.0f}", flush=True)


def rows(size_kb):
    """As many rows as make a document of this size."""
    made, count = [], 0
    while count < size_kb * 1000:
        number = len(made)
        made.append({"id": number, "name": f"the name of row {number}", "price": number + 0.5, "tags": ["blue", "new"]})
        count += len(json.dumps(made[-1], separators=(",", ":"))) + 1
    return made


def cases(size_kb):
    row = len(rows(size_kb)) // 2
    both = ("edgecask", "redis-server")
    return [
        ("JSON.GET of a leaf", ["JSON.GET", f"d:{KEY}", f"$.rows[{row}].price"], both[:1]),
        ("HGET", ["HGET", f"h:{KEY}", f"price{row}"], both),
        ("JSON.SET of a leaf", ["JSON.SET", f"d:{KEY}", f"$.rows[{row}].name", f'"name {KEY}"'], both[:1]),
        ("HSET", ["HSET", f"h:{KEY}", f"name{row}", f'"name {KEY}"'], both),
        ("JSON.NUMINCRBY", ["JSON.NUMINCRBY", f"d:{KEY}", f"$.rows[{row}].id", "1"], both[:1]),
        ("HINCRBY", ["HINCRBY", f"h:{KEY}", f"id{row}", "1"], both),
        ("JSON.ARRAPPEND", ["JSON.ARRAPPEND", f"d:{KEY}", "$.log", "7"], both[:1]),
        ("RPUSH", ["RPUSH", f"l:{KEY}", "7"], both),
    ]


def load(system, size_kb):
    made = rows(size_kb)
    document = json.dumps({"rows": made, "log": []}, separators=(",", ":"))
    for key in range(KEYS):
        # redis-benchmark writes random numbers so.
        name = f"{key:012d}"
        if system == "edgecask":
            yield encode("JSON.SET", f"d:{name}", "$", document)
        fields = [word for row in made for field in row for word in (f"{field}{row['id']}", str(row[field]))]
        yield encode("HSET", f"h:{name}", *fields)


def measure(options, system, size_kb, words):
    with tempfile.TemporaryDirectory(prefix="documents-") as directory:
        data = pathlib.Path(directory) / "data"
        data.mkdir()
        command = [options.edgecask, "serve", "--dir", str(data), "--threads", "1"]
        if system != "edgecask":
            command = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", str(data)]
        with Server(command, os.path.join(directory, "log")) as server:
            server.pipe(load(system, size_kb))
            before_s, before_bytes = server.cpu_seconds(), log_bytes(system, server, data)
            done = subprocess.run(
                ["redis-benchmark", "-p", str(server.port), "-c", str(CONNECTIONS), "-P", str(PIPELINE), "-n", str(options.requests),
                 "-r", str(KEYS), "--csv", *words], text=True, capture_output=True, check=True)
            rate = float(done.stdout.splitlines()[-1].split('","')[-7].strip('"'))
            cpu_us = (server.cpu_seconds() - before_s) / options.requests * 1e6
            written = log_bytes(system, server, data) - before_bytes
            reply = server.call("INFO errorstats").decode()
            assert "errorstat_ERR" not in reply and "errorstat_WRONGTYPE" not in reply, reply
            return rate, cpu_us, written / options.requests


def log_bytes(system, server, data):
    """Bytes of the log so far; what merges take away stays counted."""
    if system != "edgecask":
        return sum(file.stat().st_size for file in data.rglob("*.incr.aof"))
    return int(re.search(r"log_appended_bytes:(\d+)", server.call("INFO").decode())[1])


if __name__ == "__main__":
    main()
