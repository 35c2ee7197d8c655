"""Libraries of functions last: through kill -9, a clean stop, FLUSHALL and RESTORE. Scripts of EVAL do not, as in Redis."""

import os
import signal

from connection import Connection
from servers import Server

FIRST = "#!lua name=first\nredis.register_function('count', function(keys) return redis.call('incr', keys[1]) end)"
SECOND = "#!lua name=second\nredis.register_function{function_name='get', callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes'}, description='\x01\xff'}"
NO_SCRIPT = b"-NOSCRIPT No matching script. Please use EVAL.\r\n"


def problems(program, folder):
    """What did not last; empty if all is well."""
    command = [program, "serve", "--dir", os.path.join(folder, "lasting"), "--appendfsync", "always"]
    log = os.path.join(folder, "lasting.log")
    found = []

    def expect(connection, reply, *words):
        actual = connection.call(*words)
        if actual != reply:
            found.append(f"lasting: {' '.join(words)}\n  reply:    {actual}\n  expected: {reply}")

    with Server(command, log) as server:
        connection = Connection(server.port)
        expect(connection, b"$5\r\nfirst\r\n", "function", "load", "#!lua name=first\nredis.register_function('old', function() end)")
        expect(connection, b"$5\r\nfirst\r\n", "function", "load", "replace", FIRST)
        expect(connection, b"$6\r\nsecond\r\n", "function", "load", SECOND)
        expect(connection, b"$4\r\ngone\r\n", "function", "load", "#!lua name=gone\nredis.register_function('gone', function() end)")
        expect(connection, b"+OK\r\n", "function", "delete", "gone")
        expect(connection, b":1\r\n", "fcall", "count", "1", "n")
        sha = connection.call("script", "load", "return 1").split(b"\r\n")[1].decode()
        listed = connection.call("function", "list", "withcode")
        server.stop(signal.SIGKILL)
    for how in (signal.SIGTERM, signal.SIGKILL):
        with Server(command, log) as server:
            connection = Connection(server.port)
            expect(connection, listed, "function", "list", "withcode")
            expect(connection, b"-ERR Function not found\r\n", "fcall", "old", "0")
            expect(connection, b"-ERR Function not found\r\n", "fcall", "gone", "0")
            expect(connection, NO_SCRIPT, "evalsha", sha, "0")
            expect(connection, b"+OK\r\n", "flushall")
            expect(connection, b":1\r\n", "fcall", "count", "1", "n")
            expect(connection, b"$1\r\n1\r\n", "fcall_ro", "get", "1", "n")
            expect(connection, b"$1\r\n1\r\n", "eval", "return redis.call('get', KEYS[1])", "1", "n")
            expect(connection, b"+OK\r\n", "save")
            server.stop(how)
    with Server(command, log) as server:
        connection = Connection(server.port)
        expect(connection, listed, "function", "list", "withcode")
        expect(connection, b"+OK\r\n", "function", "flush")
        server.stop(signal.SIGKILL)
    with Server(command, log) as server:
        expect(Connection(server.port), b"*0\r\n", "function", "list")
    return found
