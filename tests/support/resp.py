"""Requests in RESP, and a connection for scripts that measure: it needs to know of a reply little more than that it came.

What must be known exactly of replies and of lost connections is in tests/reliability/client.py.
"""

import socket


def encode(*words):
    """A request; what is not bytes is written as text."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


class Connection:
    """A connection; replies are read and only the first line of each is kept."""

    def __init__(self, port, patience_s):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, request):
        self.socket.sendall(request)

    def reply(self):
        """The first line of a reply, whose rest is skipped."""
        line = self.file.readline()
        if not line:
            raise OSError("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"$" and rest != b"-1":
            self.file.read(int(rest) + 2)
        elif kind == b"*" and rest != b"-1":
            for _ in range(int(rest)):
                self.reply()
        return line[:-2]

    def call(self, *words):
        self.send(encode(*words))
        reply = self.reply()
        if reply.startswith(b"-"):
            raise SystemExit(f"{words[0]}: {reply.decode()}")
        return reply
