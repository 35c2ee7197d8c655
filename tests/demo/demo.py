#!/usr/bin/env python3
"""A real data set in through redis-cli --pipe, kill -9, and every record out again.

The records are the packages that Debian's index lists (`apt-cache dumpavail`): a string `version:NAME` and a hash
`package:NAME` with all fields of its paragraph. Every file of an installed package (/var/lib/dpkg/info) becomes a
string `file:PATH` as well, until there are enough.
"""

import argparse
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import encode as request
from servers import Server

WANTED = 100_000


def packages():
    """The paragraphs of the package index as dictionaries."""
    text = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True).stdout
    for paragraph in text.decode("utf-8", "replace").split("\n\n"):
        fields, last = {}, None
        for line in paragraph.splitlines():
            if line[:1].isspace() and last:
                fields[last] += "\n" + line
            elif ":" in line:
                last, value = line.split(":", 1)
                fields[last] = value.strip()
        if "Package" in fields:
            yield fields


def records():
    """Key to value: text for strings, a dictionary for hashes."""
    found = {}
    for fields in packages():
        name = fields["Package"]
        found[f"version:{name}"] = fields.get("Version", "")
        found[f"package:{name}"] = fields
    for listing in sorted(os.listdir("/var/lib/dpkg/info")):
        if len(found) >= 2 * WANTED:
            break
        if listing.endswith(".list"):
            package = listing[: -len(".list")]
            with open(os.path.join("/var/lib/dpkg/info", listing), encoding="utf-8", errors="replace") as lines:
                found.update((f"file:{line.rstrip()}", package) for line in lines)
    return found


def read_reply(replies):
    line = replies.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"$":
        return None if rest == b"-1" else replies.read(int(rest) + 2)[:-2]
    if kind in b"*%" and kind:
        return [read_reply(replies) for _ in range(int(rest) * (2 if kind == b"%" else 1))]
    return rest


def count_wrong(port, data):
    """Reads every record back and counts those that differ."""
    wrong, items = 0, list(data.items())
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client, client.makefile("rb") as replies:
        for start in range(0, len(items), 1000):
            batch = items[start:start + 1000]
            client.sendall(b"".join(
                request("HGETALL" if isinstance(value, dict) else "GET", key) for key, value in batch))
            for key, value in batch:
                got = read_reply(replies)
                if isinstance(value, dict):
                    got = dict(zip(got[::2], got[1::2]))
                    value = {name.encode(): text.encode() for name, text in value.items()}
                else:
                    value = value.encode()
                wrong += got != value
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    options = parser.parse_args()
    data = records()
    if len(data) < WANTED:
        sys.exit(f"only {len(data)} records on this machine; run apt-get update first")
    hashes = sum(isinstance(value, dict) for value in data.values())
    commands = b"".join(
        request("HSET", key, *[word for pair in value.items() for word in pair]) if isinstance(value, dict)
        else request("SET", key, value) for key, value in data.items())
    with tempfile.TemporaryDirectory(prefix="edgecask-demo-") as folder:
        command = [options.edgecask, "serve", "--dir", os.path.join(folder, "data")]
        log = os.path.join(folder, "log")
        with Server(command, log) as server:
            begin = time.monotonic()
            piped = subprocess.run(["redis-cli", "-p", str(server.port), "--pipe"], input=commands, check=True,
                                   capture_output=True)
            loaded_s = time.monotonic() - begin
            if b"errors: 0" not in piped.stdout:
                sys.exit(piped.stdout.decode())
            server.stop(signal.SIGKILL)
        with Server(command, log) as server:
            wrong = count_wrong(server.port, data)
            opened_s = server.started_s
            server.stop()
    print(f"demo: {len(data)} records ({len(data) - hashes} strings, {hashes} hashes, {len(commands) / 1e6:.0f} MB) "
          f"loaded in {loaded_s:.1f} s; after kill -9 opened in {opened_s:.2f} s; {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
