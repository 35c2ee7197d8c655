#!/usr/bin/env python3
"""RESP over WebSocket beside RESP over TCP in one run, and what idle WebSockets cost.

    web.py --edgecask target/release/edgecask [--rounds 5] [--seconds 2] [--sockets 10000]

One process sends to all its sockets and then reads from all of them, the same way for both, so that the ratio is the server's: commands
a second, and the server's CPU for each. Requests are GET of 3 bytes; a pipeline is 16 of them in one message. Rounds of
both take turns; the medians are printed. Memory is resident memory with idle sockets, each of which has run a command
and received 2 kB, less before.
"""

import argparse
import base64
import os
import pathlib
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server, free_port

GET = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
VALUE = b"$3\r\nxyz\r\n"
CASES = [(1, 1), (50, 1), (1, 16), (50, 16)]


def message(payload):
    """One masked frame; a mask of zeros leaves the payload as it is."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + size.to_bytes(2, "big")
    return b"\x82" + length + bytes(4) + payload


def frame_size(size):
    """How long the server's frame around so many bytes is."""
    return size + (2 if size < 126 else 4)


def connect_web(port):
    one = socket.create_connection(("127.0.0.1", port))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode()
    one.sendall(f"GET /resp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    response = b""
    while not response.endswith(b"\r\n\r\n"):
        response += one.recv(4096)
    if b" 101 " not in response:
        sys.exit(f"no WebSocket: {response.decode()}")
    return one


def connect_tcp(port):
    one = socket.create_connection(("127.0.0.1", port))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def receive(one, size):
    while size > 0:
        size -= len(one.recv(min(size, 65536))) or sys.exit("the server closed a connection")


def drive(server, sockets, request, reply_size, commands, seconds):
    """Commands a second, and the server's microseconds of CPU for each."""
    cpu = server.cpu_seconds()
    begin = time.monotonic()
    rounds = 0
    while (passed := time.monotonic() - begin) < seconds:
        for _ in range(20):
            for one in sockets:
                one.sendall(request)
            for one in sockets:
                receive(one, reply_size)
        rounds += 20
    done = rounds * len(sockets) * commands
    return done / passed, (server.cpu_seconds() - cpu) / done * 1e6


def beside_tcp(server, web_port, rounds, seconds):
    server.call("SET k xyz")
    print(f"{'sockets':>8} {'pipeline':>8} | {'TCP/s':>9} {'WebSocket/s':>11} {'ratio':>6} | {'TCP us':>7} {'WS us':>7} {'ratio':>6}")
    for count, pipeline in CASES:
        carriers = [
            ([connect_tcp(server.port) for _ in range(count)], GET * pipeline, len(VALUE) * pipeline),
            ([connect_web(web_port) for _ in range(count)], message(GET * pipeline), frame_size(len(VALUE) * pipeline)),
        ]
        measured = [[drive(server, *carrier, pipeline, seconds) for carrier in carriers] for _ in range(rounds)]
        tcp, web = ([statistics.median(one[carrier][part] for one in measured) for part in (0, 1)] for carrier in (0, 1))
        print(f"{count:>8} {pipeline:>8} | {tcp[0]:>9.0f} {web[0]:>11.0f} {web[0] / tcp[0]:>6.2f} | "
              f"{tcp[1]:>7.2f} {web[1]:>7.2f} {web[1] / tcp[1]:>6.2f}", flush=True)
        for sockets, _, _ in carriers:
            for one in sockets:
                one.close()


def idle(server, web_port, count):
    server.call("SET long " + "x" * 2000)
    reply_size = frame_size(len(b"$2000\r\n") + 2000 + 2)
    warm = [connect_web(web_port) for _ in range(100)]
    time.sleep(1)
    before = sum(server.memory_bytes().values())
    sockets = []
    for _ in range(count):
        one = connect_web(web_port)
        one.sendall(message(b"GET long\r\n"))
        receive(one, reply_size)
        sockets.append(one)
    time.sleep(2)
    each = (sum(server.memory_bytes().values()) - before) / count
    cpu = server.cpu_seconds()
    time.sleep(5)
    at_rest_ms = (server.cpu_seconds() - cpu) / 5 * 1000
    print(f"{count} idle WebSockets: {each / 1024:.1f} KiB each, {at_rest_ms:.0f} ms of CPU a second")
    for one in [*warm, *sockets]:
        one.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--sockets", type=int, default=10000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="web-") as directory:
        web_port = free_port()
        command = [options.edgecask, "serve", "--dir", os.path.join(directory, "data"), "--http-port", str(web_port),
                   "--http-max-per-address", "0", "--maxclients", "20000"]
        with Server(command, os.path.join(directory, "log")) as server:
            idle(server, web_port, options.sockets)
            beside_tcp(server, web_port, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
