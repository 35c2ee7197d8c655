#!/usr/bin/env python3
"""Conversations of several connections with a server: edgecask and redis-server must send the same bytes to each.

A file holds one conversation on an empty server of each kind:

    # a comment
    2> BLPOP list 0          connection 2 sends this request (words as redis-cli takes them; $id1 is connection 1's CLIENT ID)
    2>| SET a 1 | GET a      connection 2 sends several requests at once
    2! close                 connection 2 goes away
    @ 150                    so many milliseconds pass
    ? INFO line              what follows until the next step is not compared (replies that name versions)

After each step everything that arrives anywhere until there is silence is compared, step by step and connection by
connection. Numbers of connections, addresses and the times of MONITOR are made equal first.

    run.py [NAME...]         EDGECASK_BIN names the edgecask
"""

import os
import pathlib
import re
import select
import shlex
import socket
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from servers import Server

SILENCE_S = 0.01
PATIENCE_S = 1.0
IDS_SKIPPED = 500


class Side:
    """One server and the connections to it."""

    def __init__(self, port):
        self.port = port
        self.sockets = {}
        self.ids = {}
        # So that the numbers of connections are unlike any other number.
        for _ in range(IDS_SKIPPED):
            socket.create_connection(("127.0.0.1", port)).close()

    def connection(self, name):
        if name not in self.sockets:
            made = socket.create_connection(("127.0.0.1", self.port))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets[name] = made
            made.sendall(b"CLIENT ID\r\n")
            self.ids[name] = int(made.recv(64).strip()[1:])
        return self.sockets[name]

    def send(self, name, requests):
        data = b""
        for request in requests:
            words = [self.filled(word) for word in shlex.split(request)]
            data += b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.connection(name).sendall(data)

    def filled(self, word):
        def of(match):
            name = match.group(2)
            if match.group(1) == "id":
                return str(self.ids[name])
            host, port = self.connection(name).getsockname()[:2]
            return f"{host}:{port}"

        word = re.sub(r"\$(id|addr)(\d+)", of, word)
        return word.encode().decode("unicode_escape").encode("latin-1")

    def close(self, name):
        self.sockets.pop(name).close()

    def hear(self, heard, patience_s):
        """Adds what arrives within so many seconds to what was heard of each connection; False if nothing does."""
        open_ones = {made: name for name, made in self.sockets.items()}
        ready, _, _ = select.select(list(open_ones), [], [], patience_s)
        for made in ready:
            name = open_ones[made]
            try:
                data = made.recv(1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                self.sockets.pop(name).close()
            heard[name] = heard.get(name, b"") + (data or b"<closed>")
        return bool(ready)

    def told_alike(self, data):
        for name, number in self.ids.items():
            data = re.sub(rb":%d\r\n" % number, b":<id%s>\r\n" % name.encode(), data)
        data = re.sub(rb"127\.0\.0\.1:\d+", b"<address>", data)
        return re.sub(rb"\+\d{10}\.\d{6} ", b"+<time> ", data)


def listen(sides, least_s):
    """What each side says until both have said the same and are silent, or until patience ends."""
    heard = [{}, {}]
    begin = time.monotonic()
    while True:
        is_silent = not any([side.hear(its, SILENCE_S) for side, its in zip(sides, heard)])
        alike = [
            {name: side.told_alike(data) for name, data in its.items()} for side, its in zip(sides, heard)
        ]
        passed_s = time.monotonic() - begin
        if is_silent and passed_s >= least_s and (alike[0] == alike[1] or passed_s > least_s + PATIENCE_S):
            return alike


def converse(path, sides):
    problems, steps = [], 0
    ours, theirs = sides
    is_compared = True
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        least_s = 0.0
        if line.startswith("?"):
            is_compared = False
            line = line[1:].strip()
        if line.startswith("@"):
            least_s = float(line[1:]) / 1000
        elif match := re.fullmatch(r"(\d+)! close", line):
            for side in sides:
                side.close(match.group(1))
        elif match := re.fullmatch(r"(\d+)>(\|?)\s*(.*)", line):
            name, several, rest = match.groups()
            requests = rest.split(" | ") if several else [rest]
            for side in sides:
                side.send(name, requests)
        else:
            sys.exit(f"{path.name}:{number}: {line!r} is no step")
        steps += 1
        heard = listen(sides, least_s)
        if heard[0] != heard[1] and is_compared:
            names = sorted(set(heard[0]) | set(heard[1]))
            different = [name for name in names if heard[0].get(name) != heard[1].get(name)]
            told = "\n".join(
                f"    connection {name}\n      edgecask: {heard[0].get(name, b'')!r}\n      redis:    {heard[1].get(name, b'')!r}"
                for name in different
            )
            problems.append(f"{path.name}:{number}: {line}\n{told}")
        is_compared = True
    return steps, problems


def main():
    wanted = sys.argv[1:]
    paths = [path for path in sorted(HERE.glob("*.txt")) if not wanted or path.stem in wanted]
    binary = os.environ.get("EDGECASK_BIN", str(HERE.parents[1] / "target" / "debug" / "edgecask"))
    total, problems = 0, []
    for path in paths:
        with tempfile.TemporaryDirectory(prefix="conversation-") as folder:
            ours = [binary, "serve", "--dir", os.path.join(folder, "data")]
            theirs = ["redis-server", "--save", "", "--appendonly", "no"]
            with Server(ours, os.path.join(folder, "ours.log")) as one, Server(
                theirs, os.path.join(folder, "theirs.log")
            ) as other:
                steps, found = converse(path, [Side(one.port), Side(other.port)])
        total += steps
        problems += found
    print("\n".join(problems))
    print(f"conversations: {len(paths)} files, {total} steps, {len(problems)} differ from redis-server")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
