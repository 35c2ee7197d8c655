"""A connection that speaks RESP2, for scripts that must know exactly what was answered, and what was not."""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import encode

PATIENCE_S = 120


class ErrorReply(str):
    """An error that a server answered."""


class Lost(Exception):
    """The connection ended before the reply did."""


class Client:
    """Bulk strings are bytes, statuses str, errors ErrorReply."""

    def __init__(self, port, db=0):
        self.port, self.db = port, db
        self.connect()

    def connect(self):
        """Begins a new connection to the same database, in place of one that was lost."""
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        except OSError as error:
            raise Lost(str(error)) from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        if self.db:
            self.ask("SELECT", self.db)

    def select(self, db):
        self.db = db
        self.ask("SELECT", db)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *commands):
        try:
            self.socket.sendall(b"".join(encode(*command) for command in commands))
        except OSError as error:
            raise Lost(str(error)) from error

    def ask(self, *words):
        self.send(words)
        return self.reply()

    def ask_all(self, commands):
        """The replies to commands that are sent at once."""
        self.send(*commands)
        return [self.reply() for _ in commands]

    def reply(self):
        line = self.bytes_of(self.file.readline)
        if not line.endswith(b"\r\n"):
            raise Lost("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return ErrorReply(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        length = int(rest)
        if length < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(length)]
        body = self.bytes_of(lambda: self.file.read(length + 2))
        if len(body) < length + 2:
            raise Lost("the connection was closed within a string")
        return body[:-2]

    @staticmethod
    def bytes_of(read):
        try:
            return read()
        except OSError as error:
            raise Lost(str(error)) from error
