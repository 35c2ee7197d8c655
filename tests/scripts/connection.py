"""A connection whose replies are kept as they came, byte for byte, in RESP2 and RESP3."""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import encode

# No reply takes longer on a healthy machine; it only bounds how long a broken server hangs the run.
REPLY_LIMIT_S = 60
# A map's entries are pairs.
PARTS_OF_AGGREGATE = {b"*": 1, b"~": 1, b">": 1, b"%": 2}


class Connection:
    """One connection to a server on this machine."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=REPLY_LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, *requests):
        """Sends requests, each a sequence of words, in one write."""
        self.socket.sendall(b"".join(encode(*words) for words in requests))

    def reply(self):
        """The next reply's bytes. An `EOFError` says that the server has closed the connection."""
        line = self.file.readline()
        if not line:
            raise EOFError("the server closed the connection")
        kind = line[:1]
        if kind in b"$=!":
            size = int(line[1:])
            return line + (self.file.read(size + 2) if size >= 0 else b"")
        if kind in PARTS_OF_AGGREGATE:
            count = int(line[1:]) * PARTS_OF_AGGREGATE[kind]
            return line + b"".join(self.reply() for _ in range(count))
        return line

    def call(self, *words):
        """The bytes of the reply to one request."""
        self.send(words)
        return self.reply()

    def close(self):
        self.file.close()
        self.socket.close()
