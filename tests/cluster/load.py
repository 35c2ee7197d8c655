"""Clients that send one request after another, many of them in one process, and the figures of it."""

import selectors
import socket
import time

from harness import encode


class Load:
    """Clients that are spread over servers. `request` gives the bytes of a request, whose reply has always `reply_bytes` bytes."""

    def __init__(self, gateways, clients_each, request, reply_bytes):
        self.request, self.reply_bytes = request, reply_bytes
        self.selector = selectors.DefaultSelector()
        self.clients = [Sender(gateway, self.selector) for gateway in gateways for _ in range(clients_each)]

    def run(self, seconds):
        """The requests that were done in so many seconds, and how long each took, in seconds."""
        took = []
        begin = now = time.monotonic()
        for client in self.clients:
            client.send(self.request(), now)
        open_ones = len(self.clients)
        while open_ones:
            for key, _ in self.selector.select(30):
                client, now = key.data, time.monotonic()
                if not client.has_arrived(self.reply_bytes):
                    continue
                took.append(now - client.since)
                if now - begin < seconds:
                    client.send(self.request(), now)
                else:
                    open_ones -= 1
            if time.monotonic() - begin > seconds + 30:
                raise AssertionError(f"{open_ones} clients have no reply")
        return Figures(took, now - begin)


class Sender:
    """One connection."""

    def __init__(self, gateway, selector):
        self.socket = socket.create_connection(("127.0.0.1", gateway.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.arrived, self.since = 0, 0.0
        selector.register(self.socket, selectors.EVENT_READ, self)

    def send(self, request, now):
        self.arrived, self.since = 0, now
        self.socket.sendall(request)

    def has_arrived(self, reply_bytes):
        data = self.socket.recv(1 << 16)
        if not data or data[:1] == b"-":
            raise AssertionError(f"the reply is {data[:200]!r}")
        self.arrived += len(data)
        if self.arrived > reply_bytes:
            raise AssertionError(f"a reply has {self.arrived} bytes, not {reply_bytes}: {data[-200:]!r}")
        return self.arrived == reply_bytes


class Figures:
    """What a load came to."""

    def __init__(self, took, seconds):
        self.count, self.rate = len(took), len(took) / seconds
        ordered = sorted(took)
        self.median_ms, self.p99_ms = (ordered[int(len(ordered) * part)] * 1000 for part in (0.5, 0.99))

    def __str__(self):
        return f"{self.rate:.0f}/s, median {self.median_ms:.1f} ms, p99 {self.p99_ms:.1f} ms"


def transaction(requests):
    """The bytes of a MULTI of these."""
    return b"".join(encode(*words) for words in [("MULTI",), *requests, ("EXEC",)])
