"""Requests in RESP, and a connection for scripts that measure: most need to know of a reply little more than that it came.

What must be known exactly of replies and of lost connections is in tests/reliability/client.py.
"""

import socket


def encode(*words):
    """A request; what is not bytes is written as text."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


class Connection:
    """A connection. `reply` skips what stands behind the first line of a reply, `value` keeps it."""

    def __init__(self, port, patience_s):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, request):
        self.socket.sendall(request)

    def line(self):
        line = self.file.readline()
        if not line:
            raise OSError("the connection was closed")
        return line[:-2]

    def reply(self):
        """The first line of a reply, whose rest is skipped."""
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b"$" and rest != b"-1":
            self.file.read(int(rest) + 2)
        elif kind == b"*" and rest != b"-1":
            for _ in range(int(rest)):
                self.reply()
        return line

    def value(self):
        """What is in a reply: bytes, None or a list. An error ends the script."""
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise SystemExit(line.decode())
        if kind not in b"$*":
            return rest
        count = int(rest)
        if count < 0:
            return None
        return self.file.read(count + 2)[:-2] if kind == b"$" else [self.value() for _ in range(count)]

    def ask(self, *words):
        """The first line of the reply to a request, which may be an error."""
        self.send(encode(*words))
        return self.reply()

    def call(self, *words):
        """The same; an error ends the script."""
        reply = self.ask(*words)
        if reply.startswith(b"-"):
            raise SystemExit(f"{words[0]}: {reply.decode()}")
        return reply
