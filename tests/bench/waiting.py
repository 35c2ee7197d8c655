#!/usr/bin/env python3
"""Ten thousand connections, a thousand of them blocked and a thousand subscribed: CPU at rest and memory of each.

    waiting.py --edgecask target/release/edgecask [--connections 10000] [--seconds 10]

Beside redis-server. CPU is the server's own time while nothing happens, in milliseconds a second; memory is resident
memory with the connections, each of which has run a command, less before.
"""

import argparse
import os
import pathlib
import resource
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server


def measure(command, log, connections, seconds):
    with Server(command, log) as server:
        time.sleep(1)
        before = sum(server.memory_bytes().values())
        made = []
        for number in range(connections):
            one = socket.create_connection(("127.0.0.1", server.port))
            if number % 10 == 0:
                one.sendall(b"BLPOP queue%d 0\r\n" % number)
            elif number % 10 == 1:
                one.sendall(b"SUBSCRIBE channel%d\r\n" % number)
                one.recv(256)
            else:
                one.sendall(b"SET key:%d value\r\n" % number)
                one.recv(64)
            made.append(one)
        time.sleep(2)
        memory = (sum(server.memory_bytes().values()) - before) / connections
        cpu_before = server.cpu_seconds()
        time.sleep(seconds)
        cpu = (server.cpu_seconds() - cpu_before) / seconds
        # They did wait: each is answered.
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port)) as waker:
            for number in range(0, connections, 10):
                waker.sendall(b"RPUSH queue%d x\r\nPUBLISH channel%d x\r\n" % (number, number + 1))
            for number in range(0, connections, 10):
                if b"queue" not in made[number].recv(256) or b"message" not in made[number + 1].recv(256):
                    sys.exit(f"connection {number} was not woken")
        woken = time.monotonic() - begin
        for one in made:
            one.close()
        return cpu * 1000, memory, woken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="edgecask-waiting-") as directory:
        log = os.path.join(directory, "log")
        limit = ["--maxclients", str(options.connections + 100)]
        for name, command in (
            ("EdgeCask", [options.edgecask, "serve", "--dir", os.path.join(directory, "data"), *limit]),
            ("Redis", ["redis-server", "--dir", directory, "--save", "", "--appendonly", "yes", *limit]),
        ):
            cpu, memory, woken = measure(command, log, options.connections, options.seconds)
            print(f"{name}: {cpu:.1f} ms of CPU a second at rest, {memory:.0f} bytes a connection, "
                  f"{options.connections // 10} blocked and as many subscribed woken in {woken:.2f} s", flush=True)


if __name__ == "__main__":
    main()
